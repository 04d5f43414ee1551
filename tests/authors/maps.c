/* Says when the process ends, when PHP has unloaded its extensions, whether the probe is still there. */
#include <stdio.h>
#include <string.h>

__attribute__((destructor)) static void at_the_end(void)
{
    char line[4096];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        found |= strstr(line, "/probe.so") != NULL;
    }
    printf("the probe is %s\n", found ? "loaded" : "unloaded");
    fflush(stdout);
}
