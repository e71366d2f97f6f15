/* A controller in C, 1000 times a second. The robot is the plant of an FMU; on a real one, the lines marked "robot" read
 * encoders and write torques. Usage: loop SECONDS q1 q2 … > log.csv; a row has t, q, tau, lateness and computing time in µs. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "control_computed_torque.h"
#include "plant.h"

enum { N = NU, PERIOD = 1000000 /* ns */ };

static long since(const struct timespec *a, const struct timespec *b) /* ns */
{
    return (b->tv_sec - a->tv_sec) * 1000000000L + (b->tv_nsec - a->tv_nsec);
}

int main(int count, char **words)
{
    static Plant robot;
    static double log[60000][2 * N + 3];
    const long cycles = count > 1 ? (long)(1000.0 * atof(words[1])) : 0;
    if (cycles < 1 || cycles > 60000 || count != 2 + N)
        return fprintf(stderr, "usage: loop SECONDS q1 ... q%d\n", N), 2;
    restart(&robot);
    for (unsigned k = 0; k < N; ++k)
        robot.value[STATES + k] = atof(words[2 + k]);
    const char *reason = initialize(&robot);

    struct timespec due, woken, done;
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (long cycle = 0; cycle < cycles && !reason; ++cycle) {
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL); /* deadlines do not drift */
        clock_gettime(CLOCK_MONOTONIC, &woken);

        const double t = 1e-3 * (double)cycle, *q = robot.value + STATES, *v = q + N; /* robot: encoders */
        double tau[N], *row = log[cycle];
        row[0] = t;
        memcpy(row + 1, q, N * sizeof *q);
        control_computed_torque(&t, q, v, tau);
        memcpy(row + 1 + N, tau, sizeof tau);
        clock_gettime(CLOCK_MONOTONIC, &done);

        memcpy(robot.value + INPUTS, tau, sizeof tau); /* robot: torques */
        reason = advance(&robot, t, 1e-3);

        row[2 * N + 1] = 1e-3 * (double)since(&due, &woken);
        row[2 * N + 2] = 1e-3 * (double)since(&woken, &done);
        due.tv_nsec += PERIOD;
        if (due.tv_nsec >= 1000000000L)
            due.tv_nsec -= 1000000000L, ++due.tv_sec;
    }
    if (reason)
        return fprintf(stderr, "%s\n", reason), 1;
    for (long cycle = 0; cycle < cycles; ++cycle)
        for (int k = 0; k < 2 * N + 3; ++k)
            printf("%.17g%c", log[cycle][k], k < 2 * N + 2 ? ',' : '\n');
    return 0;
}
