/* notify.h: tells systemd about the state of a service (sd_notify). See notify.c. */
#ifndef CLI_NOTIFY_H
#define CLI_NOTIFY_H

/* 1 if the service manager wants to be notified. */
int cli_notifies(void);
/* Sends a state, "READY=1\nSTATUS=..." (printf format). Without a service manager it does nothing. */
void cli_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
