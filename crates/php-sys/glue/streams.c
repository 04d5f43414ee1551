/* Access to the state of streams in structures of the engine. */
#include "php.h"
#include "php_network.h"
#include "ext/standard/file.h"
#if __has_include("ext/pdo/php_pdo_driver.h")
#include "ext/pdo/php_pdo_driver.h"
#endif
#include "glue.h"

/* The first fields of ext/openssl's socket structure, which it also uses for plain sockets, without a handle. */
typedef struct tls_socket {
	php_netstream_data_t socket;
	void *handle;
} tls_socket;

/* The operations of ext/openssl's streams, once one was seen: they are known by their label only. They stay where they are until a
 * request ends; then modules that it has loaded are unloaded. */
static const php_stream_ops *tls_ops;

/* Returns whether a stream is one of ext/openssl. */
static bool is_of_openssl(const php_stream *stream)
{
	if (stream->ops == tls_ops) {
		return true;
	}
	if (strcmp(stream->ops->label, "tcp_socket/ssl") != 0) {
		return false;
	}
	tls_ops = stream->ops;
	return true;
}

void spindle_streams_end_request(void)
{
	tls_ops = NULL;
}

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
	if (!is_of_openssl(stream)) {
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

static php_stream *stream_of(zval *resource)
{
	if (Z_TYPE_P(resource) != IS_RESOURCE) {
		return NULL;
	}
	/* The types of stream resources: assigned when PHP starts, and needed often. */
	static int plain, persistent;
	if (UNEXPECTED(!plain)) {
		plain = php_file_le_stream();
		persistent = php_file_le_pstream();
	}
	int type = Z_RES_TYPE_P(resource);
	return type == plain || type == persistent ? Z_RES_VAL_P(resource) : NULL;
}

/* Returns the socket of a stream whose cast would only return its descriptor; NULL if the cast has to be called. */
static php_netstream_data_t *plain_socket(php_stream *stream)
{
	if (stream->ops == &php_stream_socket_ops) {
		return stream->abstract;
	}
	if (!is_of_openssl(stream)) {
		return NULL;
	}
	tls_socket *socket = stream->abstract;
	return socket && !socket->handle ? &socket->socket : NULL;
}

static bool has_buffered(const php_stream *stream)
{
	return stream->writepos > stream->readpos;
}

int spindle_stream_descriptor(zval *resource)
{
	php_stream *stream = stream_of(resource);
	php_socket_t descriptor = -1;

	if (!stream) {
		return -1;
	}
	php_netstream_data_t *socket = plain_socket(stream);
	if (socket) {
		return socket->socket;
	}
	/* A user wrapper's stream_cast() is called here. */
	int how = PHP_STREAM_AS_FD_FOR_SELECT | PHP_STREAM_CAST_INTERNAL;
	if (php_stream_cast(stream, how, (void **) &descriptor, 0) != SUCCESS || descriptor < 0) {
		return -1;
	}
	return (int) descriptor;
}

bool spindle_socket_to_poll(zval *resource, bool reads, int *descriptor)
{
	php_stream *stream = stream_of(resource);
	php_netstream_data_t *socket = stream ? plain_socket(stream) : NULL;

	if (!socket) {
		return false;
	}
	*descriptor = reads && has_buffered(stream) ? -1 : socket->socket;
	return true;
}

int spindle_stream_to_poll(zval *resource, bool reads)
{
	int descriptor = spindle_stream_descriptor(resource);
	/* After that: data that TLS has decrypted is moved to the buffer there, and a wrapper's code may have closed the stream. */
	return reads && spindle_stream_has_buffered(resource) ? -1 : descriptor;
}

bool spindle_is_stream(zval *value)
{
	return stream_of(value) != NULL;
}

bool spindle_stream_is_in_memory(zval *value)
{
	php_stream *stream = stream_of(value);
	return stream && (stream->ops == &php_stream_memory_ops || stream->ops == &php_stream_temp_ops);
}

bool spindle_stream_has_buffered(zval *resource)
{
	php_stream *stream = stream_of(resource);
	return stream && has_buffered(stream);
}

/* --- streams that calls use without having them as arguments --- */

zend_resource *spindle_stream_of_filter(zend_resource *filter)
{
	php_stream_filter *its = filter->type == php_file_le_stream_filter() ? filter->ptr : NULL;

	return its && its->chain && its->chain->stream ? its->chain->stream->res : NULL;
}

/* Returns the resource of a value at this position among those that are resources. */
static zend_resource *resource_of(zval *value, uint32_t *number)
{
	ZVAL_DEREF(value);
	return Z_TYPE_P(value) == IS_RESOURCE && (*number)-- == 0 ? Z_RES_P(value) : NULL;
}

/* Returns a stream that an object refers to, by its number; NULL: there are no more. These are what is bound to a statement of PDO, and what
 * objects of final classes, which have no properties of user code, tell the garbage collector of. */
zend_resource *spindle_stream_within(zend_object *object, uint32_t number)
{
	zend_resource *found = NULL;
	zval *values = NULL;
	int count = 0;

#ifdef PHP_PDO_DRIVER_H
	zend_class_entry *statement = zend_hash_str_find_ptr(CG(class_table), ZEND_STRL("pdostatement"));

	if (statement && object->ce->create_object == statement->create_object) {
		struct pdo_bound_param_data *parameter;
		HashTable *bound = php_pdo_stmt_fetch_object(object)->bound_params;

		if (bound) {
			ZEND_HASH_FOREACH_PTR(bound, parameter) {
				if ((found = resource_of(&parameter->parameter, &number))) {
					return found;
				}
			} ZEND_HASH_FOREACH_END();
		}
		return NULL;
	}
#endif
	if (object->ce->ce_flags & ZEND_ACC_FINAL && object->handlers->get_gc) {
		bool is_first = !EG(get_gc_buffer).start;

		object->handlers->get_gc(object, &values, &count);
		for (int i = 0; i < count && !found; i++) {
			found = resource_of(&values[i], &number);
		}
		if (is_first && EG(get_gc_buffer).start) { /* memory that the script does not have otherwise */
			efree(EG(get_gc_buffer).start);
			EG(get_gc_buffer) = (zend_get_gc_buffer) {NULL, NULL, NULL};
		}
	}
	return found;
}
