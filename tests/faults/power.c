/* Loaded into a process (LD_PRELOAD), keeps what a power cut would leave of the folder POWER_FROM:
 * after each sync of a file there its content is copied to POWER_TO/<inode>, after each sync of a
 * folder the names in it, with their inodes, to POWER_TO/<inode>. POWER_TO/log has a line for
 * each. What was never synced is not there, as after a power cut on a disk that keeps exactly what
 * was synced.
 *
 * POWER_DIES=N kills the process in place of its Nth operation on the disk; POWER_FULL=N-M lets
 * those from the Nth to the Mth fail, writes since the disk is full, syncs with an error of it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void copy_file(int fd, int to) {
    int from = fd;
    static __thread char part[1 << 16];
    off_t at = 0;
    ssize_t got;
    /* Not by a second descriptor: closing that would let go of SQLite's locks. What is open for
     * writing alone is no database. */
    if ((fcntl(from, F_GETFL) & O_ACCMODE) == O_WRONLY) {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", from);
        from = open(link, O_RDONLY);
    }
    while ((got = pread(from, part, sizeof part, at)) > 0 && write(to, part, got) == got) at += got;
    if (from != fd) close(from);
}

static void copy_names(const char *path, int to) {
    DIR *folder = opendir(path);
    struct dirent *one;
    while (folder && (one = readdir(folder)))
        if (strcmp(one->d_name, ".") && strcmp(one->d_name, ".."))
            dprintf(to, "%lu %c %s\n", (unsigned long)one->d_ino,
                    one->d_type == DT_DIR ? 'd' : 'f', one->d_name);
    if (folder) closedir(folder);
}

static void keep(int fd) {
    const char *from = getenv("POWER_FROM"), *target = getenv("POWER_TO");
    char link[64], path[4096], making[4096], done[4096];
    struct stat about;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (!from || !target || length < 0 || fstat(fd, &about)) return;
    path[length] = 0;
    if (strncmp(path, from, strlen(from))) return;
    snprintf(making, sizeof making, "%s/making-%d-%d", target, getpid(), gettid());
    snprintf(done, sizeof done, "%s/%lu", target, (unsigned long)about.st_ino);
    int to = open(making, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (S_ISDIR(about.st_mode)) copy_names(path, to);
    else copy_file(fd, to);
    close(to);
    rename(making, done);
    snprintf(making, sizeof making, "%s/log", target);
    to = open(making, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dprintf(to, "%s\n", path);
    close(to);
}

/* Whether the next operation is to fail. */
static int fails(void) {
    static atomic_long done;
    const char *dies = getenv("POWER_DIES"), *full = getenv("POWER_FULL");
    long first, last, now = ++done;
    if (dies && now == atol(dies)) kill(getpid(), SIGKILL);
    return full && sscanf(full, "%ld-%ld", &first, &last) == 2 && first <= now && now <= last;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int synced(int (*real)(int), int fd) {
    if (fails()) { errno = EIO; return -1; }
    int failed = real(fd);
    if (!failed) keep(fd);
    return failed;
}

int fsync(int fd) { return synced(REAL(fsync), fd); }
int fdatasync(int fd) { return synced(REAL(fdatasync), fd); }

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    if (fails()) { errno = ENOSPC; return -1; }
    return REAL(pwrite)(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    if (fails()) { errno = ENOSPC; return -1; }
    return REAL(pwrite64)(fd, data, size, at);
}

/* These only count: what a kill falls between. */
int unlink(const char *path) { fails(); return REAL(unlink)(path); }
int link(const char *from, const char *to) { fails(); return REAL(link)(from, to); }
int rename(const char *from, const char *to) { fails(); return REAL(rename)(from, to); }
int ftruncate64(int fd, off64_t size) { fails(); return REAL(ftruncate64)(fd, size); }
