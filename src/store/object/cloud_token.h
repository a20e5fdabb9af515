/** Access tokens of OAuth services: fetched when needed, shared by the threads of a store until shortly before they end. Internal to store/. */
#ifndef STORE_CLOUD_TOKEN_H
#define STORE_CLOUD_TOKEN_H

#include <pthread.h>

#include "net/http.h"

/** How a fresh token is asked for. Fills the request (its headers: room for 4) with what is valid now. */
typedef silt_status (*cloud_token_ask)(void *ctx, http_header *headers, http_request *out, arena *a, silt_error *err);

typedef struct cloud_token {
    pthread_mutex_t lock; /**< over what follows, also while a token is fetched: the other threads wait for it */
    buf value;            /**< empty: none yet */
    int64_t ends_ms, renew_ms; /**< by the monotonic clock */
} cloud_token;

void cloud_token_init(cloud_token *t);
void cloud_token_dispose(cloud_token *t);

/**
 * "Bearer <token>" in `a`. Fetched anew when less than five minutes, or a fifth of its life, are left; where that fails and the old one still lives, it is used on.
 * @return DENIED (STORE_TOKEN_REFUSED: the service's error code, never its text about what was sent), IO
 */
silt_status cloud_token_get(cloud_token *t, http_client *client, cloud_token_ask ask, void *ctx, arena *a, str *out, silt_error *err) MUST_CHECK;

/** The service did not take the token: the next call fetches another. false: there was none. */
bool cloud_token_forget(cloud_token *t);

/** {"access_token": …, "expires_in": seconds, as number or text} */
bool cloud_token_parse(str body, arena *a, str *out_token, int64_t *out_seconds);
/** name=value, encoded, with a '&' before it where something stands already. */
void cloud_form_add(buf *form, const char *name, str value, arena *a);

#endif
