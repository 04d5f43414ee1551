--TEST--
Uploaded files of requests that the end of the process abandons are removed; a child process leaves those of its parent
--EXTENSIONS--
pcntl
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';

$code = <<<'PHP'
    require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
    $uploaded = new Async\Channel(1);
    $server = S\worker(function () use ($uploaded) {
        if (isset($_FILES['f'])) {
            $uploaded->send($_FILES['f']['tmp_name']);
            (new Async\Channel(1))->recv();
        }
    });
    $form = "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"q\"\r\n\r\nabc\r\n--B--\r\n";
    $client = S\connect($server);
    fwrite($client, S\request('POST', '/', $form, "Content-Type: multipart/form-data; boundary=B\r\n"));
    $file = $uploaded->recv();
    echo "$file\n", json_encode(file_exists($file)), "\n";
    PHP;
foreach (['exit(3);', 'ini_set("display_errors", 0); trigger_error("fatal", E_USER_ERROR);', 'throw new Exception("uncaught");',
          'if (pcntl_fork() === 0) exit; pcntl_wait($s); echo json_encode(file_exists($file)), " after a child\n"; exit;'] as $end) {
    $ended = T\php("$code\n$end");
    [$file, $there, $after] = explode("\n", "$ended->output\n\n");
    echo "$ended->status $there ", json_encode(file_exists($file)), " $after\n";
}
?>
--EXPECT--
3 true false 
255 true false 
255 true false 
0 true false true after a child
