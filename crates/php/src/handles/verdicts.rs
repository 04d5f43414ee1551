//! Verdicts on PHP's extensions: which of their calls may be suspended while others of the same extension run.
//!
//! An extension without an entry has one call in progress at a time, whatever its handles (`CallKind::Alone`). An entry
//! only allows more, and each was made after reading the extension's source for what it keeps outside of its objects
//! while it calls PHP code, waits, writes output, or reports an error. The function names are those of PHP 8.2, and
//! what later versions have added up to 8.5; a function without an entry locks its whole extension.

use crate::handles::{declared, kinds::CallKind, matches};
use std::collections::HashMap;

/// The verdict on the functions of an extension that have no entry of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// They neither wait in libc nor keep anything: no trampoline.
    Free,
    /// They may wait, but keep nothing outside of their own stack while they do.
    Plain,
    /// They use only handles: the objects of the extension and the resources among their arguments.
    Handles,
    /// Unknown.
    Alone,
}

/// Returns the verdict on an extension, by its lower-case name: its own, or that of the table.
pub(crate) fn of_module(name: &str) -> Verdict {
    declared::of_module(name).unwrap_or_else(|| of_table(name))
}

fn of_table(name: &str) -> Verdict {
    match name {
        "core" | "pcre" | "json" | "ctype" | "date" | "reflection" | "gmp" | "bcmath" | "iconv" | "gettext"
        | "sodium" | "calendar" | "filter" | "libxml" | "mbstring" => Verdict::Free,
        "posix" | "pcntl" | "sysvmsg" | "sysvsem" | "shmop" => Verdict::Plain,
        "pdo" | "pdo_mysql" | "pdo_pgsql" | "pdo_sqlite" | "mysqli" | "pgsql" | "sqlite3" | "redis" | "curl"
        | "memcached" | "amqp" | "mongodb" | "imap" | "ldap" | "soap" | "ssh2" | "ftp" | "zmq" | "openssl" | "zlib"
        | "bz2" | "zip" | "gd" | "exif" | "fileinfo" | "xml" | "xmlreader" | "xmlwriter" | "hash" | "spl"
        | "random" | "sockets" => Verdict::Handles,
        _ => Verdict::Alone,
    }
}

/// Returns the meaning of the verdict on an extension for its calls, in words for users: a class and a colon first.
pub(crate) fn in_words(name: &str) -> &'static str {
    if let Some(own) = declared::of_module(name) {
        return match own {
            Verdict::Free | Verdict::Plain => "proven: calls run concurrently, as the extension declares",
            Verdict::Handles => {
                "proven: calls run concurrently, on one handle one at a time, as the extension declares"
            }
            Verdict::Alone => "serialised: one call at a time is in progress, as the extension declares",
        };
    }
    match (name, of_table(name)) {
        ("standard" | "dom" | "simplexml", _) => {
            "proven: calls that wait run concurrently, or one at a time on one handle; the other ones one at a time"
        }
        ("ffi", _) => "blocks: C functions called through it do; calls made by the libraries it loads suspend",
        (_, Verdict::Free) => "proven: its calls neither wait nor keep anything",
        (_, Verdict::Plain) => "proven: calls run concurrently",
        (_, Verdict::Handles) => "proven: calls run concurrently, on one handle one at a time",
        (_, Verdict::Alone) => "serialised: nothing is known of it, so one call at a time is in progress",
    }
}

/// Returns the representative of the extensions that work on the same trees in memory as this one.
pub(crate) fn family(name: &str) -> &str {
    match name {
        "simplexml" | "xsl" => "dom",
        name => name,
    }
}

/// Returns `true` if the extension has functions that set state of its library for the duration of their call
/// (`CallKind::Exclusive`).
pub(crate) fn has_exclusive(name: &str) -> bool {
    name == "imap"
}

/// Returns `true` if what the extension keeps belongs to a native PHP request, where there are such (`isolation::sapi`): then one
/// call of each at a time is in progress.
pub(crate) fn is_of_requests(name: &str) -> bool {
    name == "session"
}

/// Drivers of PDO whose connections share nothing but code.
pub(crate) const PDO_DRIVERS: &[&str] = &["mysql", "pgsql", "sqlite"];

/// Wrappers whose streams share nothing, by the labels of their operations.
pub(crate) const WRAPPERS: &[&str] =
    &["plainfile", "PHP", "http", "ftp", "RFC2397", "glob", "ZLIB", "BZip2", "zip wrapper", "user-space"];

/// Returns the entry of a function; `Some(None)` if it needs no trampoline.
pub(crate) fn of_function(extension: &str, class: Option<&[u8]>, name: &str) -> Option<Option<CallKind>> {
    if let Some(own) = declared::of_function(extension, class, name) {
        return Some(Some(own));
    }
    let is_in = |list: &str| list.split_ascii_whitespace().any(|one| one == name);
    let found = match (extension, class) {
        ("core", Some(b"Fiber")) if is_in("start resume throw suspend") => Some(CallKind::Fiber),
        ("pcre", None) if is_in("preg_replace_callback preg_replace_callback_array preg_grep") => Some(matches::kind()),
        ("pcntl", None) if name == "pcntl_signal_dispatch" => Some(CallKind::Unswitched),
        ("mbstring", None) if name == "mb_send_mail" => Some(CallKind::Plain),
        // The current pattern is kept in globals.
        ("mbstring", None) if name.starts_with("mb_ereg") || name.starts_with("mb_regex") => Some(CallKind::Alone),
        // During the call it redirects where the library stores what any call fetches.
        ("imap", None) if name == "imap_savebody" => Some(CallKind::Exclusive),
        ("dom", Some(b"DOMDocument")) if is_in("load loadxml loadhtml loadhtmlfile") => Some(CallKind::Plain),
        ("simplexml", None) if is_in("simplexml_load_file simplexml_load_string") => Some(CallKind::Plain),
        ("spl" | "random", None) => return Some(None),
        ("spl", Some(b"SplDoublyLinkedList" | b"SplQueue")) if is_in(LIST_FREE) => return Some(None),
        ("hash", None) if is_in(HASH_FREE) => return Some(None),
        // A constructor in all but its name.
        ("pdo", Some(_)) if name == "connect" => Some(CallKind::Makes),
        ("curl", None) if name == "curl_multi_exec" => Some(CallKind::Performs),
        ("curl", None) if name == "curl_multi_select" => Some(CallKind::Watches),
        ("curl", None) if is_in(CURL_JOINS) => Some(CallKind::Joins),
        ("curl", None) if is_in("curl_close curl_share_close") => return Some(None), // they do nothing
        ("amqp", Some(b"AMQPEnvelope" | b"AMQPBasicProperties" | b"AMQPTimestamp" | b"AMQPDecimal")) => {
            Some(CallKind::Plain)
        }
        ("amqp", Some(_)) if is_in(AMQP_PLAIN) => Some(CallKind::Plain),
        ("amqp", Some(b"AMQPQueue" | b"AMQPExchange")) if name == "__construct" => Some(CallKind::Refers),
        ("amqp", Some(b"AMQPQueue")) if name == "consume" => Some(CallKind::Receives),
        ("amqp", Some(b"AMQPQueue")) if is_in("ack nack reject") => Some(CallKind::Sends),
        ("amqp", Some(b"AMQPExchange")) if name == "publish" => Some(CallKind::Sends),
        ("standard" | "sockets", None) => return standard(name),
        _ => return None,
    };
    Some(found)
}

/// Returns the entry of a function of ext/standard or ext/sockets.
fn standard(name: &str) -> Option<Option<CallKind>> {
    static ENTRIES: std::sync::LazyLock<HashMap<&'static str, Option<CallKind>>> = std::sync::LazyLock::new(|| {
        let lists = [
            (FREE, None),
            (PLAIN, Some(CallKind::Plain)),
            (MAKES, Some(CallKind::Makes)),
            (READS, Some(CallKind::Reads)),
            (WRITES, Some(CallKind::Writes)),
            (BOTH, Some(CallKind::Stream)),
            (CLOSES, Some(CallKind::Closes)),
            ("stream_filter_remove", Some(CallKind::Handle)), // the filter's stream
            (IN_PLACE, Some(CallKind::Unswitched)),
            ("dl", Some(CallKind::Loads)),
            ("request_parse_body", Some(CallKind::Body)),
        ];
        lists
            .into_iter()
            .flat_map(|(names, kind)| names.split_ascii_whitespace().map(move |name| (name, kind)))
            .collect()
    });
    ENTRIES.get(name).copied()
}

/// Returns `true` for functions that may call PHP code or wait, but set no marks against endless recursion on their
/// arguments.
pub(crate) fn never_flags(extension: &str, class: Option<&str>, name: &str) -> bool {
    let is_in = |list: &str| list.split_ascii_whitespace().any(|one| one == name);
    match (extension, class) {
        ("pcre" | "pdo" | "pdo_mysql" | "pdo_pgsql" | "pdo_sqlite" | "mysqli" | "pgsql" | "sqlite3" | "curl", _) => {
            true
        }
        ("core", Some("Closure" | "Fiber" | "Generator")) => true,
        ("core", None) => is_in(
            "class_exists interface_exists trait_exists enum_exists is_a is_subclass_of method_exists
            property_exists get_parent_class trigger_error user_error func_get_args",
        ),
        ("reflection", Some(_)) => is_in("__construct invoke invokeargs newinstance newinstanceargs getvalue setvalue"),
        ("spl", None) => true,
        ("spl", Some(class)) => class.ends_with("Iterator") && !class.ends_with("ArrayIterator"),
        ("standard", None) => is_in(CALLING_BACK),
        _ => false,
    }
}

/// Returns `true` for functions that set such marks and meanwhile write output, which may wait.
pub(crate) fn flags_while_it_writes(extension: &str, name: &str) -> bool {
    extension == "standard" && matches!(name, "var_dump" | "var_export" | "print_r" | "debug_zval_dump")
}

/// Methods of `SplDoublyLinkedList`, `SplQueue` and `SplStack` that call no PHP code, but for `isEmpty()`, which calls an
/// overridden `count()` and reads nothing after that. The others may free values, or call what was overridden in between.
const LIST_FREE: &str =
    "push pop shift unshift enqueue dequeue top bottom isempty count offsetexists offsetget key current valid
    getiteratormode";

/// Functions of ext/standard that call PHP code without comparing values or walking through them.
const CALLING_BACK: &str =
    "array_map array_filter array_walk array_reduce usort uasort uksort array_diff_ukey array_udiff
    array_find array_find_key array_any array_all
    array_udiff_assoc array_diff_uassoc array_udiff_uassoc array_intersect_ukey array_uintersect array_uintersect_assoc
    array_intersect_uassoc array_uintersect_uassoc call_user_func call_user_func_array forward_static_call
    forward_static_call_array ob_start ob_flush ob_clean ob_end_flush ob_end_clean ob_get_flush ob_get_clean
    register_shutdown_function header_register_callback unserialize sprintf vsprintf implode join str_replace";

const HASH_FREE: &str =
    "hash hash_hmac hash_equals hash_algos hash_hmac_algos hash_pbkdf2 hash_hkdf mhash_get_block_size
    mhash_get_hash_name mhash_keygen_s2k mhash_count mhash";

/// Functions of ext/curl after which a handle may share the connections of others.
const CURL_JOINS: &str =
    "curl_setopt curl_setopt_array curl_copy_handle curl_multi_add_handle curl_share_setopt curl_share_init";

/// Methods of ext-amqp that return what is in memory, or change what no call in progress uses. Not those that change a connection:
/// `connect()` keeps pointers to its texts while it waits.
const AMQP_PLAIN: &str = "getname setname getflags setflags getargument getarguments setargument setarguments hasargument
    getchannel getconnection getconsumertag gettype settype isconnected getchannelid getconsumers getprefetchcount
    getprefetchsize getglobalprefetchcount getglobalprefetchsize ispersistent getlogin getpassword gethost getport getvhost
    gettimeout getreadtimeout getwritetimeout getrpctimeout getusedchannels getmaxchannels getmaxframesize
    getheartbeatinterval getcacert getcert getkey getverify getsaslmethod getconnectionname";

/// Functions of ext/standard and ext/sockets that use one direction of a stream.
const READS: &str = "fread fgets fgetc fgetcsv fscanf fpassthru stream_get_contents stream_get_line
    stream_socket_recvfrom stream_socket_accept readdir socket_read socket_recv socket_recvfrom socket_recvmsg
    socket_accept";
const WRITES: &str = "fwrite fputs fputcsv fprintf vfprintf stream_socket_sendto socket_write socket_send socket_sendto
    socket_sendmsg";
/// Functions that use both directions of a stream, its position, or its layers.
const BOTH: &str = "fflush fseek rewind ftell ftruncate fstat fsync fdatasync stream_copy_to_stream
    stream_socket_enable_crypto rewinddir flock file_put_contents proc_close stream_filter_append
    stream_filter_prepend socket_connect stream_set_write_buffer set_file_buffer stream_set_read_buffer";
/// Functions that change an array in place, and run PHP code meanwhile (`__toString()`, destructors) without holding the
/// array: code that writes to it lets them use freed memory. The engine's sorts hold it.
const IN_PLACE: &str = "array_multisort array_splice";
/// Functions that may return a stream that was opened before.
const MAKES: &str = "pfsockopen stream_socket_client";
const CLOSES: &str = "fclose pclose closedir socket_close";

/// Functions that wait or call PHP code, and keep nothing but what is on their stack and in the engine's fields that
/// belong to a coroutine (see `isolation::verdicts`).
const PLAIN: &str = "sleep usleep time_nanosleep time_sleep_until exec system passthru shell_exec proc_open popen
    proc_terminate proc_get_status mail error_log syslog gethostbyname gethostbynamel gethostbyaddr dns_check_record
    checkdnsrr dns_get_record dns_get_mx getmxrr net_get_interfaces fsockopen stream_socket_server stream_socket_pair
    stream_select stream_socket_shutdown feof
    opendir dir scandir glob readfile mkdir rmdir fopen rename copy tempnam tmpfile file file_get_contents unlink
    realpath fileatime filectime filegroup fileinode filemtime fileowner fileperms filesize filetype file_exists
    is_writable is_writeable is_readable is_executable is_file is_dir is_link stat lstat chown chgrp lchown lchgrp chmod
    touch disk_total_space disk_free_space diskfreespace readlink linkinfo symlink link chdir chroot getcwd
    move_uploaded_file md5_file sha1_file getimagesize get_headers get_meta_tags iptcembed printf vprintf flush
    var_dump var_export print_r debug_zval_dump
    stream_resolve_include_path
    socket_select socket_create socket_create_pair socket_create_listen socket_bind socket_listen socket_shutdown
    socket_last_error socket_clear_error socket_set_option socket_setopt socket_set_nonblock socket_set_block
    socket_getsockname socket_getpeername socket_get_option socket_getopt socket_strerror socket_addrinfo_lookup
    socket_cmsg_space socket_import_stream socket_export_stream socket_atmark socket_addrinfo_bind
    socket_addrinfo_connect socket_addrinfo_explain";

/// Functions that never wait in libc themselves, and keep nothing while they call PHP code.
const FREE: &str = "set_time_limit header_register_callback ob_start ob_flush ob_clean ob_end_flush ob_end_clean
    ob_get_flush ob_get_clean ob_get_contents ob_get_level ob_get_length ob_list_handlers ob_get_status
    ob_implicit_flush output_reset_rewrite_vars output_add_rewrite_var stream_wrapper_register stream_register_wrapper
    stream_wrapper_unregister stream_wrapper_restore array_push count sizeof end prev next reset current pos key
    min max array_walk array_walk_recursive in_array array_search extract compact array_fill array_fill_keys
    range shuffle array_pop array_shift array_unshift array_slice array_merge array_merge_recursive
    array_replace array_replace_recursive array_keys array_key_first array_key_last array_values array_count_values
    array_column array_reverse array_pad array_flip array_change_key_case array_intersect_key array_diff_key array_rand
    array_sum array_product array_reduce array_filter array_map array_key_exists key_exists array_chunk array_combine
    array_is_list array_unique sort rsort asort arsort ksort krsort natsort natcasesort usort uasort uksort
    array_intersect_ukey array_uintersect array_uintersect_assoc
    array_intersect_uassoc array_uintersect_uassoc array_diff_ukey array_udiff array_diff_uassoc array_udiff_assoc
    array_udiff_uassoc array_diff array_intersect array_diff_assoc array_intersect_assoc base64_encode base64_decode
    constant ip2long long2ip getenv putenv getopt get_current_user get_cfg_var error_get_last error_clear_last
    call_user_func call_user_func_array forward_static_call forward_static_call_array register_shutdown_function ini_get
    ini_get_all ini_parse_quantity get_include_path connection_aborted
    connection_status ignore_user_abort register_tick_function unregister_tick_function is_uploaded_file sys_getloadavg
    crc32 crypt strptime gethostname ftok hrtime md5 getmyuid getmygid getmypid getmyinode getlastmod sha1 openlog
    closelog inet_ntop inet_pton metaphone header header_remove setrawcookie setcookie http_response_code headers_sent
    headers_list htmlspecialchars htmlspecialchars_decode html_entity_decode htmlentities get_html_translation_table
    assert assert_options bin2hex hex2bin strspn strcspn nl_langinfo strcoll trim rtrim chop ltrim wordwrap explode
    implode join strtok strtoupper strtolower basename dirname pathinfo stristr strstr strchr strpos stripos strrpos
    strripos strrchr str_contains str_starts_with str_ends_with chunk_split substr substr_replace quotemeta ord chr
    ucfirst lcfirst ucwords strtr strrev similar_text addcslashes addslashes stripcslashes stripslashes str_replace
    str_ireplace hebrev nl2br strip_tags setlocale parse_str str_getcsv str_repeat count_chars strnatcmp localeconv
    strnatcasecmp substr_count str_pad sscanf str_rot13 str_shuffle str_word_count str_split strpbrk substr_compare
    utf8_encode utf8_decode escapeshellcmd escapeshellarg proc_nice umask fnmatch sys_get_temp_dir clearstatcache
    realpath_cache_get realpath_cache_size sprintf vsprintf http_build_query image_type_to_mime_type
    image_type_to_extension getimagesizefromstring phpversion php_sapi_name php_uname php_ini_scanned_files
    php_ini_loaded_file iptcparse levenshtein abs ceil floor round sin cos tan asin acos atan atanh atan2 sinh cosh tanh
    asinh acosh expm1 log1p pi is_finite is_nan intdiv is_infinite pow exp log log10 sqrt hypot deg2rad rad2deg bindec
    hexdec octdec decbin decoct dechex base_convert number_format fmod fdiv microtime gettimeofday getrusage pack unpack
    password_get_info password_hash password_needs_rehash password_verify password_algos quoted_printable_decode
    quoted_printable_encode soundex stream_context_create stream_context_set_params stream_context_get_params
    stream_context_set_option stream_context_get_options stream_context_get_default stream_context_set_default
    stream_socket_get_name stream_supports_lock stream_set_blocking socket_set_blocking stream_get_meta_data
    socket_get_status stream_get_wrappers stream_get_transports stream_is_local stream_isatty stream_set_chunk_size
    stream_set_timeout socket_set_timeout gettype get_debug_type settype intval floatval doubleval boolval strval is_null
    is_resource is_bool is_int is_integer is_long is_float is_double is_numeric is_string is_array is_object is_scalar
    is_callable is_iterable is_countable uniqid parse_url urlencode urldecode rawurlencode rawurldecode
    stream_bucket_make_writeable stream_bucket_prepend stream_bucket_append stream_bucket_new stream_get_filters
    stream_filter_register convert_uuencode convert_uudecode serialize unserialize memory_get_usage memory_get_peak_usage
    memory_reset_peak_usage version_compare cli_set_process_title cli_get_process_title
    str_increment str_decrement stream_context_set_options
    array_find array_find_key array_any array_all fpow http_get_last_response_headers http_clear_last_response_headers
    array_first array_last";
