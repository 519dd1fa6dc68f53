/* nvfp4rt_version.h - the version of the interface that a caller is compiled against. The library's
 * own is nvfp4rt_version_number(). */
#ifndef NVFP4RT_VERSION_H
#define NVFP4RT_VERSION_H

#define NVFP4RT_VERSION_MAJOR 0
#define NVFP4RT_VERSION_MINOR 1
#define NVFP4RT_VERSION_PATCH 0

/* One number for comparisons: 1002003 is 1.2.3. */
#define NVFP4RT_VERSION_NUMBER                                                                     \
  (NVFP4RT_VERSION_MAJOR * 1000000 + NVFP4RT_VERSION_MINOR * 1000 + NVFP4RT_VERSION_PATCH)

#endif /* NVFP4RT_VERSION_H */
