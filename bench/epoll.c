/*
 * The yardstick of the server benchmarks: the least a server can do. One thread, level-triggered epoll, one
 * recv and one send for each request.
 *
 *     epoll echo|http
 *
 * prints its port and its process id, then serves until it is killed.
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
#include <unistd.h>

#define MAX_FD 1024
#define BUFFER 8192

static const char REPLY[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nHello";

/* What of a request has come so far, by descriptor. */
static struct { size_t len; char data[BUFFER]; } in[MAX_FD];

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* Answers every complete request in the buffer; 0 when the connection is to be closed. */
static int answer(int fd, int http)
{
    static char out[BUFFER * 4];
    size_t len = 0, at = 0;
    char *end;

    if (!http)
        return send(fd, in[fd].data, in[fd].len, MSG_NOSIGNAL) == (ssize_t) in[fd].len && (in[fd].len = 0, 1);
    while ((end = memmem(in[fd].data + at, in[fd].len - at, "\r\n\r\n", 4)) != NULL) {
        at = (size_t) (end + 4 - in[fd].data); /* a GET ends with its head */
        if (len + sizeof REPLY > sizeof out)
            return 0;
        memcpy(out + len, REPLY, sizeof REPLY - 1);
        len += sizeof REPLY - 1;
    }
    memmove(in[fd].data, in[fd].data + at, in[fd].len - at);
    in[fd].len -= at;
    return len == 0 || send(fd, out, len, MSG_NOSIGNAL) == (ssize_t) len;
}

int main(int argc, char **argv)
{
    int http = argc > 1 && strcmp(argv[1], "http") == 0;
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    struct epoll_event event = { .events = EPOLLIN }, events[128];
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int queue = epoll_create1(EPOLL_CLOEXEC);

    if (listener < 0 || queue < 0)
        die("socket");
    if (bind(listener, (struct sockaddr *) &address, size) < 0 || listen(listener, 511) < 0)
        die("listen");
    if (getsockname(listener, (struct sockaddr *) &address, &size) < 0)
        die("getsockname");
    event.data.fd = listener;
    if (epoll_ctl(queue, EPOLL_CTL_ADD, listener, &event) < 0)
        die("epoll_ctl");
    printf("%d %d\n", ntohs(address.sin_port), (int) getpid());
    fflush(stdout);

    for (;;) {
        int count = epoll_wait(queue, events, 128, -1);

        if (count < 0 && errno != EINTR)
            die("epoll_wait");
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            ssize_t got;

            if (fd == listener) {
                while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
                    if (fd >= MAX_FD) {
                        close(fd);
                        continue;
                    }
                    in[fd].len = 0;
                    event.data.fd = fd;
                    if (epoll_ctl(queue, EPOLL_CTL_ADD, fd, &event) < 0)
                        die("epoll_ctl");
                }
                continue;
            }
            got = recv(fd, in[fd].data + in[fd].len, BUFFER - in[fd].len, 0);
            if (got < 0 && (errno == EAGAIN || errno == EINTR))
                continue;
            if (got <= 0) {
                close(fd);
                continue;
            }
            in[fd].len += (size_t) got;
            if (!answer(fd, http))
                close(fd);
        }
    }
}
