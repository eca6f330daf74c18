/* Messages to the user: on stderr, each line behind "==WARPLENS== ". Thread-safe; safe to call
 * inside an application, where nothing of ours may reach stdout. Control characters of names and
 * files are shown as \x1b; a newline begins another line. */
#ifndef WL_BASE_LOG_H
#define WL_BASE_LOG_H

typedef enum wl_log_level { WL_LOG_ERROR, WL_LOG_WARN, WL_LOG_INFO, WL_LOG_DEBUG } wl_log_level;

void wl_log_set_level(wl_log_level most); /* default WL_LOG_INFO */
wl_log_level wl_log_get_level(void);
void wl_log(wl_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
