/* PHP inside another program: runs files and pieces of code (those that begin with '@' are files), all in one request.
   embed PHP.INI WHAT... */
#include <sapi/embed/php_embed.h>

int main(int argc, char **argv)
{
	php_embed_module.php_ini_path_override = argv[1];
	PHP_EMBED_START_BLOCK(argc, argv)
	for (int i = 2; i < argc; i++) {
		if (argv[i][0] == '@') {
			zend_file_handle file;

			zend_stream_init_filename(&file, argv[i] + 1);
			php_execute_script(&file);
			zend_destroy_file_handle(&file);
		} else {
			zend_eval_string_ex(argv[i], NULL, "piece", true);
		}
		php_printf("--\n");
	}
	PHP_EMBED_END_BLOCK()
	return 0;
}
