/*
 * The load of the echo benchmark: CONNECTIONS clients on one thread, each sends 64 bytes, waits until it has them
 * all back, and sends again.
 *
 *     load PORT CONNECTIONS SECONDS
 *
 * prints the number of round trips.
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

int main(int argc, char **argv)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct epoll_event event = { .events = EPOLLIN }, events[128];
    char message[SIZE], reply[SIZE];
    unsigned long trips = 0;
    int connections, queue = epoll_create1(0);
    double until;

    if (argc != 4 || queue < 0) {
        fprintf(stderr, "usage: load PORT CONNECTIONS SECONDS\n");
        return 2;
    }
    address.sin_port = htons((unsigned short) atoi(argv[1]));
    connections = atoi(argv[2]);
    memset(message, 'x', sizeof message);
    until = now() + atof(argv[3]);
    for (int i = 0; i < connections; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        if (fd < 0 || fd >= MAX_FD || connect(fd, (struct sockaddr *) &address, sizeof address) < 0)
            die("connect");
        event.data.fd = fd;
        if (epoll_ctl(queue, EPOLL_CTL_ADD, fd, &event) < 0)
            die("epoll_ctl");
        if (send(fd, message, SIZE, MSG_NOSIGNAL) != SIZE)
            die("send");
    }
    while (now() < until) {
        int count = epoll_wait(queue, events, 128, 100);

        if (count < 0 && errno != EINTR)
            die("epoll_wait");
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            ssize_t got = recv(fd, reply, SIZE - received[fd], MSG_DONTWAIT);

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
    }
    printf("%lu\n", trips);
    return 0;
}
