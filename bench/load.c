/*
 * The load of the echo benchmark: CONNECTIONS clients on one thread, each sends 64 bytes, waits until it has them
 * all back, and sends again.
 *
 *     load PORT CONNECTIONS SECONDS [IDLE]
 *
 * prints the number of round trips. So many further connections are IDLE: they send nothing.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_FD 1024
#define SIZE 64

static size_t received[MAX_FD];

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static int connected(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || fd >= MAX_FD || connect(fd, (const struct sockaddr *) address, sizeof *address) < 0)
        die("connect");
    return fd;
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct epoll_event event = { .events = EPOLLIN }, events[128];
    char message[SIZE], reply[SIZE];
    unsigned long trips = 0;
    int connections, idle, fd, queue = epoll_create1(0);
    double until;

    if (argc < 4 || argc > 5 || queue < 0) {
        fprintf(stderr, "usage: load PORT CONNECTIONS SECONDS [IDLE]\n");
        return 2;
    }
    address.sin_port = htons((unsigned short) atoi(argv[1]));
    connections = atoi(argv[2]);
    idle = argc > 4 ? atoi(argv[4]) : 0;
    memset(message, 'x', sizeof message);
    until = now() + atof(argv[3]);
    for (int i = 0; i < connections; i++) {
        event.data.fd = fd = connected(&address);
        if (epoll_ctl(queue, EPOLL_CTL_ADD, fd, &event) < 0)
            die("epoll_ctl");
        if (send(fd, message, SIZE, MSG_NOSIGNAL) != SIZE)
            die("send");
    }
    while (idle > 0 || now() < until) {
        int count = epoll_wait(queue, events, 128, 100);

        if (count < 0 && errno != EINTR)
            die("epoll_wait");
        for (int i = 0; i < count; i++) {
            ssize_t got;

            fd = events[i].data.fd;
            got = recv(fd, reply, SIZE - received[fd], MSG_DONTWAIT);
            if (got < 0 && errno == EAGAIN)
                continue;
            if (got <= 0 || memcmp(reply, message, (size_t) got) != 0)
                die("recv: the server closed or changed the bytes");
            received[fd] += (size_t) got;
            if (received[fd] == SIZE) {
                received[fd] = 0;
                trips++;
                if (send(fd, message, SIZE, MSG_NOSIGNAL) != SIZE)
                    die("send");
            }
        }
        if (idle > 0) { /* one after the other, as fast as the server takes them; the time begins with the last */
            connected(&address);
            if (--idle == 0)
                until = now() + atof(argv[3]);
        }
    }
    printf("%lu\n", trips);
    return 0;
}
