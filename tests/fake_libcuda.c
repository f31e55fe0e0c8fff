/* A driver library of one GPU for tests: memory up to FAKE_CUDA_LIMIT bytes, and one kernel at a time on the machine.
   gcc -shared -fPIC -o libcuda.so.1 fake_libcuda.c */

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { OK = 0, INVALID = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100 };
static size_t used;
static int has_context, has_module;

static size_t number(const char *name) { const char *value = getenv(name); return value ? strtoull(value, 0, 10) : 0; }

int cuInit(unsigned flags) { return number("FAKE_CUDA_TOTAL") ? OK : NO_DEVICE; }
int cuDriverGetVersion(int *version) { *version = 12040; return OK; }
int cuDeviceGetCount(int *count) { *count = (int)number("FAKE_CUDA_COUNT"); return OK; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return ordinal ? INVALID : OK; }
int cuDeviceGetAttribute(int *value, int attribute, int device) { *value = 4; return attribute == 16 ? OK : INVALID; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = &used; return OK; }
int cuCtxSetCurrent(void *context) { has_context = context == &used; return has_context ? OK : INVALID; }

int cuMemGetInfo_v2(size_t *free, size_t *total) {
    *total = number("FAKE_CUDA_TOTAL");
    *free = *total - used;
    return has_context ? OK : INVALID;
}

int cuMemAlloc_v2(uint64_t *place, size_t size) {
    if (!has_context) return INVALID;
    if (used + size > number("FAKE_CUDA_LIMIT")) return OUT_OF_MEMORY;
    used += size;
    *place = used;
    return OK;
}

int cuModuleLoadData(void **module, const char *image) {
    has_module = has_context && strstr(image, ".entry burn(") && strstr(image, ".target sm_");
    *module = &has_module;
    return has_module ? OK : INVALID;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
    *function = module;
    return has_module && !strcmp(name, "burn") ? OK : INVALID;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra) {
    if (gx < 4 || bx != 256 || !parameters || !*(uint64_t *)parameters[0] || !*(unsigned *)parameters[1]) return INVALID;
    int file = open(getenv("FAKE_CUDA_LOCK"), O_RDONLY);
    struct timespec kernel = {0, 5000000};
    flock(file, LOCK_EX);
    nanosleep(&kernel, 0);
    flock(file, LOCK_UN);
    close(file);
    /* The other one's turn. */
    struct timespec pause = {0, 200000};
    nanosleep(&pause, 0);
    return OK;
}

int cuCtxSynchronize(void) { return has_context ? OK : INVALID; }
