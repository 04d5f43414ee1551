<?php

/** phpMyAdmin: its form of login, and the pages of a server, a database, a table and its rows. */

namespace Applications;

return [
    'packages' => ['phpmyadmin'],
    'good' => 33,
    'install' => static function (string $folder, array $server, callable $mysql): void {
        $mysql("create table pages.books (id int primary key auto_increment, title varchar(80) not null, price decimal(6,2), key (title)) comment 'of a test';
            insert into pages.books (title, price) values ('One', 1.50), ('Two <b>', 2), ('Three', null);
            create view pages.cheap as select * from pages.books where price < 2");
        $configuration = dirname($folder) . '/config.inc.php';
        file_put_contents($configuration, '<?php
            $cfg["blowfish_secret"] = "' . str_repeat('s', 32) . '";
            $cfg["Servers"][1] = ["auth_type" => "cookie", "host" => "' . $server['SPINDLE_MYSQL_HOST'] . '",
                "port" => "' . $server['SPINDLE_MYSQL_PORT'] . '",
                "only_db" => "pages", "AllowNoPassword" => false];
            $cfg["VersionCheck"] = false;
            $cfg["SendErrorReports"] = "never";
        ');
        $temporary = dirname($folder) . '/tmp/';
        @mkdir($temporary);
        $file = "$folder/libraries/vendor_config.php";
        file_put_contents($file, strtr(file_get_contents($file), ['/etc/phpmyadmin/config.inc.php' => $configuration,
            '/var/lib/phpmyadmin/tmp/' => $temporary]));
    },
    'visit' => static function (Visitor $visitor): void {
        $visitor->visit('/index.php');
        $login = static fn (string $password) => $visitor->visit('/index.php?route=/',
            ['set_session' => $visitor->field('set_session'), 'pma_username' => 'spindle', 'pma_password' => $password,
            'server' => '1', 'route' => '/', 'lang' => 'en', 'token' => $visitor->field('token')]);
        $login('wrong');
        $login(getenv('SPINDLE_PAGES_PASSWORD'));
        foreach (['/', '/server/databases', '/server/variables', '/server/collations', '/server/engines', '/server/plugins',
            '/server/privileges', '/server/sql', '/server/export', '/server/import',
            '/database/structure&db=pages', '/database/sql&db=pages', '/database/search&db=pages',
            '/database/export&db=pages', '/database/operations&db=pages', '/database/routines&db=pages',
            '/table/structure&db=pages&table=books', '/table/sql&db=pages&table=books', '/table/search&db=pages&table=books',
            '/table/change&db=pages&table=books', '/table/export&db=pages&table=books',
            '/table/operations&db=pages&table=books', '/sql&db=pages&table=books&pos=0', '/sql&db=pages&table=cheap&pos=0',
            '/preferences/manage', '/no/such/page'] as $route) {
            $visitor->visit("/index.php?route=$route");
        }
        $visitor->visit('/index.php?route=/server/sql');
        $token = $visitor->field('token');
        foreach (['select title, price from books order by id desc', 'select * from', 'update books set price = price + 1',
            'select * from books'] as $statement) {
            $visitor->visit('/index.php?route=/import', ['db' => 'pages', 'token' => $token, 'sql_query' => $statement,
                'sql_delimiter' => ';', 'is_js_confirmed' => '0', 'server' => '1']);
        }
        $visitor->visit('/index.php?route=/export', ['db' => 'pages', 'table' => 'books', 'token' => $token, 'server' => '1',
            'export_type' => 'table', 'export_method' => 'quick', 'what' => 'sql',
            'quick_or_custom' => 'quick', 'output_format' => 'sendit', 'filename_template' => '@TABLE@',
            'compression' => 'none', 'single_table' => '1', 'sql_include_comments' => 'something',
            'sql_structure_or_data' => 'structure_and_data']);
        $visitor->visit('/index.php?route=/logout', ['token' => $token]);
        $visitor->visit('/index.php');
    },
];
