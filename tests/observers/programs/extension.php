<?php
// What the extension EXTENSION says of itself, and what it does: the same text each time.

/** A line for a value, without what differs from run to run. */
function line(mixed $value): string
{
    $text = is_object($value) ? 'object of ' . get_class($value) : var_export($value, true);
    return preg_replace(['/\s+/', '/#\d+/'], [' ', '#'], $text);
}

/** What $what returns or throws. */
function outcome(callable $what): string
{
    try {
        return line($what());
    } catch (Throwable $e) {
        return get_class($e) . ': ' . preg_replace('/0x[0-9a-f]+/', '0x', $e->getMessage());
    }
}

function itself(ReflectionExtension $extension): void
{
    echo preg_replace('/id#\d+|0x[0-9a-f]+/', '', (string) $extension), "\n";
    foreach ($extension->getFunctions() as $function) {
        if ($function->getNumberOfRequiredParameters() > 0) {
            echo $function->name, '(): ', outcome(static fn() => ($function->name)()), "\n";
        }
    }
    foreach ($extension->getClasses() as $class) {
        if (!$class->isInstantiable()) {
            continue;
        }
        try {
            $object = $class->newInstance();
            echo "new $class->name\n";
        } catch (Throwable $e) {
            echo "new $class->name: ", get_class($e), ': ', $e->getMessage(), "\n";
            continue;
        }
        foreach ($class->getMethods() as $method) {
            if ($method->isPublic() && !$method->isStatic() && $method->getNumberOfRequiredParameters() > 0) {
                echo "$class->name->$method->name(): ", outcome(static fn() => $object->{$method->name}()), "\n";
            }
        }
        echo 'equal: ', outcome(static fn() => $object == $object), "\n";
    }
}

/** Something small that it is for. */
function work(string $name): mixed
{
    return match ($name) {
        'apcu' => [ini_get('apc.enable_cli'), function_exists('apcu_store')],
        'ast' => count(ast\parse_code('<?php $a = 1; f($a);', 90)->children),
        'bcmath' => bcpow('2', '200'),
        'bz2' => bzdecompress(bzcompress(str_repeat('text ', 100))),
        'calendar' => cal_days_in_month(CAL_GREGORIAN, 2, 2024),
        'ctype' => ctype_alpha('abc'),
        'curl' => curl_escape(curl_init(), 'a b'),
        'dom' => (function () {
            $document = new DOMDocument();
            $document->loadXML('<a><b c="d">e</b></a>');
            return $document->getElementsByTagName('b')->item(0)->getAttribute('c') . $document->saveXML();
        })(),
        'ds' => (new Ds\Vector([3, 1, 2]))->sorted()->toArray(),
        'exif' => exif_tagname(271),
        'ffi' => FFI::cdef('int abs(int);')->abs(-3),
        'fileinfo' => (new finfo(FILEINFO_MIME_TYPE))->buffer('<?php echo 1;'),
        'gd' => (function () {
            $image = imagecreatetruecolor(4, 4);
            imagefilledrectangle($image, 0, 0, 2, 2, 0xff0000);
            return imagecolorat($image, 1, 1);
        })(),
        'gettext' => gettext('text'),
        'gmp' => gmp_strval(gmp_fact(30)) . ' ' . gmp_strval(gmp_init(3) + gmp_init(4)),
        'iconv' => iconv('UTF-8', 'ISO-8859-1', 'text'),
        'igbinary' => igbinary_unserialize(igbinary_serialize([1, [2, 'three']])),
        'imagick' => (function () {
            $image = new Imagick();
            $image->newImage(3, 3, 'red');
            return $image->getImagePixelColor(1, 1)->getColor();
        })(),
        'intl' => (new Collator('de_DE'))->compare('ä', 'z') . ' ' . (new NumberFormatter('de_DE', NumberFormatter::DECIMAL))->format(1234.5),
        'mbstring' => mb_strtoupper('äöü'),
        'msgpack' => msgpack_unpack(msgpack_pack([1, [2, 'three']])),
        'mysqli', 'mysqlnd' => function_exists('mysqli_init') ? get_class(mysqli_init()) : null,
        'pdo_sqlite' => (new PDO('sqlite::memory:'))->query('select 1 + 1')->fetchAll(PDO::FETCH_NUM),
        'phar' => Phar::canWrite(),
        'posix' => posix_getpid() === getmypid(),
        'readline' => readline_info('library_version') !== null,
        'shmop' => (function () {
            $memory = shmop_open(ftok(__FILE__, 's'), 'c', 0600, 16);
            shmop_write($memory, 'text', 0);
            $text = shmop_read($memory, 0, 4);
            shmop_delete($memory);
            return $text;
        })(),
        'simplexml' => (string) simplexml_load_string('<a><b>c</b></a>')->b,
        'soap' => outcome(static fn() => new SoapClient(null, ['location' => 'http://localhost/', 'uri' => 'urn:x'])),
        'sockets' => socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair) && socket_write($pair[0], 'text') ? socket_read($pair[1], 4) : null,
        'sqlite3' => (new SQLite3(':memory:'))->querySingle('select 2 + 2'),
        'sysvmsg' => msg_queue_exists(1),
        'sysvsem' => line(sem_get(ftok(__FILE__, 'm'))),
        'tidy' => tidy_repair_string('<p>text', ['show-body-only' => true]),
        'tokenizer' => count(token_get_all('<?php echo 1;')),
        'uuid' => uuid_is_valid(uuid_create()),
        'xml' => (function () {
            $seen = [];
            $parser = xml_parser_create();
            xml_set_element_handler($parser, function ($p, $name) use (&$seen) {
                $seen[] = $name;
            }, function () {
            });
            xml_parse($parser, '<a><b/></a>', true);
            return $seen;
        })(),
        'xmlreader' => (function () {
            $reader = new XMLReader();
            $reader->XML('<a><b/></a>');
            for ($names = []; $reader->read();) {
                $names[] = $reader->name;
            }
            return $names;
        })(),
        'xmlwriter' => (function () {
            $writer = new XMLWriter();
            $writer->openMemory();
            $writer->writeElement('a', 'b');
            return $writer->outputMemory();
        })(),
        'xsl' => (function () {
            $style = new DOMDocument();
            $style->loadXML('<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/">'
                . '<x><xsl:value-of select="a"/></x></xsl:template></xsl:stylesheet>');
            $document = new DOMDocument();
            $document->loadXML('<a>text</a>');
            $processor = new XSLTProcessor();
            $processor->importStylesheet($style);
            return $processor->transformToXML($document);
        })(),
        'yaml' => yaml_parse(yaml_emit(['a' => [1, 2]])),
        'zip' => ZipArchive::CREATE,
        'zmq' => (function () {
            $context = new ZMQContext();
            $a = $context->getSocket(ZMQ::SOCKET_PAIR);
            $a->bind('inproc://x');
            $b = $context->getSocket(ZMQ::SOCKET_PAIR);
            $b->connect('inproc://x');
            $a->send('text');
            return $b->recv();
        })(),
        default => null,
    };
}

function all(): void
{
    $name = getenv('EXTENSION');
    $its = ['php-remctl' => 'remctl', 'libvirt-php' => 'libvirt'][$name] ?? $name;
    itself(new ReflectionExtension($its));
    echo 'work: ', outcome(static fn() => work($name)), "\nthe end\n";
}

if (getenv('WAY') === 'used') {
    $other = Async\spawn(function (): void {
        while (true) {
            Async\suspend();
        }
    });
    Async\await(Async\spawn(all(...)));
    $other->cancel();
    return; // not an exit: uopz lets a program go on after one
}
all();
