/* Access to the state of streams in structures of the engine. */
#include "php.h"
#include "php_network.h"
#include "ext/standard/file.h"
#include "glue.h"

/* The first fields of ext/openssl's socket structure, which it also uses for plain sockets, without a handle. */
typedef struct tls_socket {
	php_netstream_data_t socket;
	void *handle;
} tls_socket;

/* Returns the encrypted stream that is the first argument of a call, or NULL. */
static php_netstream_data_t *tls_of(zend_execute_data *execute_data)
{
	zval *first = ZEND_CALL_ARG(execute_data, 1);
	if (ZEND_CALL_NUM_ARGS(execute_data) == 0 || Z_TYPE_P(first) != IS_RESOURCE) {
		return NULL;
	}
	int type = Z_RES_TYPE_P(first);
	if (type != php_file_le_stream() && type != php_file_le_pstream()) {
		return NULL;
	}
	php_stream *stream = Z_RES_VAL_P(first);
	if (strcmp(stream->ops->label, "tcp_socket/ssl") != 0) {
		return NULL;
	}
	tls_socket *socket = stream->abstract;
	return socket && socket->handle ? &socket->socket : NULL;
}

bool spindle_tls_begins(zend_execute_data *execute_data)
{
	php_netstream_data_t *socket = tls_of(execute_data);
	if (socket) {
		socket->is_blocked = 1;
	}
	return socket != NULL;
}

void spindle_tls_ends(zend_execute_data *execute_data)
{
	php_netstream_data_t *socket = tls_of(execute_data);
	if (socket && php_set_sock_blocking(socket->socket, 0) == SUCCESS) {
		socket->is_blocked = 0;
	}
}
