/* Access tokens: one fetch for all threads, renewed before they end. A token is a credential: it is in no message. */
#include "store/object/cloud_token.h"

#include "base/json.h"
#include "base/time.h"

#define RENEW_BEFORE_MS 300000

void cloud_token_init(cloud_token *t) {
    pthread_mutex_init(&t->lock, NULL);
    buf_init(&t->value, 1 << 20);
    t->ends_ms = t->renew_ms = 0;
}

void cloud_token_dispose(cloud_token *t) {
    if (t->value.ptr) explicit_bzero(t->value.ptr, t->value.capacity);
    buf_dispose(&t->value);
    pthread_mutex_destroy(&t->lock);
}

void cloud_form_add(buf *form, const char *name, str value, arena *a) {
    str encoded = http_encode(value, false, a);
    if (str_is_null(encoded)) form->failed = true;
    if (form->len > 0) buf_append_char(form, '&');
    buf_append_z(form, name);
    buf_append_char(form, '=');
    buf_append(form, encoded);
}

bool cloud_token_parse(str body, arena *a, str *out_token, int64_t *out_seconds) {
    const json_node *root, *seconds;
    if (json_parse(body, a, &root, NULL) != SILT_OK) return false;
    *out_token = json_get_str(root, "access_token", STR_NULL);
    seconds = json_get(root, "expires_in");
    *out_seconds = 3600;
    if (seconds && !str_to_i64(seconds->text, out_seconds)) *out_seconds = 0;
    if (*out_seconds < 0 || *out_seconds > 30 * 86400) *out_seconds = 0;
    for (size_t i = 0; i < out_token->len; i++)
        if ((unsigned char)out_token->ptr[i] <= ' ' || (unsigned char)out_token->ptr[i] >= 127) return false; /* it is to stand in a header */
    return out_token->len > 0;
}

/* The error's code alone: descriptions repeat what was sent. */
static silt_status refused(const http_response *r, str url, arena *a, silt_error *err) {
    const json_node *root = NULL, *error;
    size_t query = str_find_char(url, '?');
    str shown = query == SIZE_MAX ? url : str_slice(url, 0, query), code = STR_NULL;
    if (json_parse(r->body, a, &root, NULL) == SILT_OK && (error = json_get(root, "error")) != NULL)
        code = error->type == JSON_STRING ? error->text : json_get_str(error, "status", STR_NULL);
    silt_status status = r->status >= 500 ? err_STORE_REQUEST_FAILED(err, "Asking for an access token", shown, r->status) : err_STORE_TOKEN_REFUSED(err, shown);
    if (str_is_null(code) || code.len > 100) error_detail(err, "HTTP status %d", r->status);
    else error_detail(err, "HTTP status %d, %.*s", r->status, STR_ARG(code));
    return status;
}

static silt_status fetch(cloud_token *t, http_client *client, cloud_token_ask ask, void *ctx, arena *a, silt_error *err) {
    http_header headers[4];
    http_request r = {.headers = headers, .repeatable = true, .what = "Asking for an access token", .max_body_bytes = 1 << 20};
    http_response answer;
    str token;
    int64_t seconds, now = time_monotonic_ms();
    TRY(ask(ctx, headers, &r, a, err));
    TRY(http_send(client, &r, a, &answer, err));
    if (answer.status != 200) return refused(&answer, r.url, a, err);
    if (!cloud_token_parse(answer.body, a, &token, &seconds)) return refused(&answer, r.url, a, err);
    buf_clear(&t->value);
    buf_append_z(&t->value, "Bearer ");
    buf_append(&t->value, token);
    int64_t life = seconds * 1000;
    t->ends_ms = now + life;
    t->renew_ms = t->ends_ms - (life / 5 < RENEW_BEFORE_MS ? life / 5 : RENEW_BEFORE_MS);
    return buf_ok(&t->value) ? SILT_OK : error_no_memory(err);
}

static silt_status get_locked(cloud_token *t, http_client *client, cloud_token_ask ask, void *ctx, arena *a, silt_error *err) {
    int64_t now = time_monotonic_ms();
    if (t->value.len > 0 && now < t->renew_ms) return SILT_OK;
    silt_error why = {0};
    silt_status status = fetch(t, client, ask, ctx, a, &why);
    if (status == SILT_OK || (t->value.len > 0 && now < t->ends_ms)) return SILT_OK;
    if (err) *err = why;
    return status;
}

silt_status cloud_token_get(cloud_token *t, http_client *client, cloud_token_ask ask, void *ctx, arena *a, str *out, silt_error *err) {
    pthread_mutex_lock(&t->lock);
    silt_status status = get_locked(t, client, ask, ctx, a, err);
    *out = status == SILT_OK ? arena_str(a, buf_str(&t->value)) : STR_NULL;
    pthread_mutex_unlock(&t->lock);
    return status == SILT_OK && str_is_null(*out) ? error_no_memory(err) : status;
}

bool cloud_token_forget(cloud_token *t) {
    pthread_mutex_lock(&t->lock);
    bool any = t->value.len > 0;
    buf_clear(&t->value);
    pthread_mutex_unlock(&t->lock);
    return any;
}
