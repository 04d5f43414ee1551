<?php

/** WordPress: installed by its own form, then seen by a visitor, who comments, and by its administrator. */

namespace Applications;

return [
    'packages' => ['wordpress', 'wordpress-theme-twentytwentythree', 'wordpress-theme-twentytwentyone'],
    'good' => 45,
    'install' => static function (string $folder, array $server): void {
        $constants = ['DB_NAME' => 'pages', 'DB_USER' => $server['SPINDLE_MYSQL_USER'],
            'DB_PASSWORD' => $server['SPINDLE_MYSQL_PASSWORD'],
            'DB_HOST' => "$server[SPINDLE_MYSQL_HOST]:$server[SPINDLE_MYSQL_PORT]", 'DB_CHARSET' => 'utf8mb4',
            'DB_COLLATE' => '',
            'WP_HTTP_BLOCK_EXTERNAL' => true, 'DISABLE_WP_CRON' => true, 'AUTOMATIC_UPDATER_DISABLED' => true,
            'ABSPATH' => "$folder/"];
        foreach (['AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT',
            'LOGGED_IN_SALT', 'NONCE_SALT'] as $key) {
            $constants[$key] = "the $key of a test";
        }
        $code = "<?php\n\$table_prefix = 'wp_';\n";
        foreach ($constants as $name => $value) {
            $code .= "defined('$name') || define('$name', " . var_export($value, true) . ");\n";
        }
        file_put_contents("$folder/wp-config.php", "{$code}require_once ABSPATH . 'wp-settings.php';\n");
        @mkdir("$folder/wp-content/uploads");
        // Pages say whether an event is overdue, which one that is due at once is a second later.
        @mkdir("$folder/wp-content/mu-plugins");
        file_put_contents("$folder/wp-content/mu-plugins/events.php", <<<'PHP'
            <?php
            add_filter('schedule_event', static function ($event) {
                if ($event) {
                    $event->timestamp += 10 * 24 * 3600;
                }
                return $event;
            });

            PHP);
    },
    'visit' => static function (Visitor $visitor): void {
        $visitor->visit('/wp-admin/install.php');
        $visitor->visit('/wp-admin/install.php?step=2', ['weblog_title' => 'Pages of a test', 'user_name' => 'admin',
            'admin_password' => 'not so secret 1',
            'admin_password2' => 'not so secret 1', 'pw_weak' => '1', 'admin_email' => 'admin@applications.test',
            'blog_public' => '0', 'language' => '']);
        foreach (['/', '/?p=1', '/?page_id=2', '/?author=1', '/?cat=1', '/?s=hello', '/?s=nothing-of-this-kind', '/?p=999',
            '/?feed=rss2', '/?feed=atom', '/?feed=comments-rss2',
            '/?rest_route=/', '/?rest_route=/wp/v2/posts', '/?rest_route=/wp/v2/users', '/wp-login.php',
            '/wp-login.php?action=lostpassword'] as $page) {
            $visitor->visit($page);
        }
        $visitor->visit('/xmlrpc.php',
            body: '<?xml version="1.0"?><methodCall><methodName>system.listMethods</methodName><params/></methodCall>');
        $visitor->visit('/wp-comments-post.php', ['comment_post_ID' => '1', 'comment_parent' => '0', 'author' => 'A reader',
            'email' => 'reader@applications.test', 'comment' => 'What a <b>post</b>!']);
        $visitor->visit('/wp-login.php', ['log' => 'admin', 'pwd' => 'wrong', 'wp-submit' => 'Log In', 'testcookie' => '1']);
        $visitor->visit('/wp-login.php', ['log' => 'admin', 'pwd' => 'not so secret 1', 'wp-submit' => 'Log In',
            'testcookie' => '1', 'redirect_to' => 'http://applications.test/wp-admin/']);
        foreach (['', 'edit.php', 'edit.php?post_type=page', 'edit-comments.php', 'edit-tags.php?taxonomy=category',
            'upload.php', 'themes.php', 'plugins.php', 'users.php', 'user-new.php', 'profile.php',
            'tools.php', 'export.php', 'options-general.php', 'options-reading.php', 'options-permalink.php', 'post-new.php',
            'nav-menus.php'] as $page) {
            $visitor->visit("/wp-admin/$page");
        }
        $visitor->visit('/wp-admin/options-reading.php');
        $visitor->visit('/wp-admin/options.php', ['option_page' => 'reading', 'action' => 'update',
            '_wpnonce' => $visitor->field('_wpnonce'), 'posts_per_page' => '7', 'posts_per_rss' => '7',
            'rss_use_excerpt' => '1', 'show_on_front' => 'posts', 'page_on_front' => '0', 'page_for_posts' => '0',
            'blog_public' => '0']);
        $visitor->visit('/wp-admin/options-reading.php');
        $visitor->visit('/wp-admin/edit-tags.php?taxonomy=category');
        $visitor->visit('/wp-admin/edit-tags.php', ['action' => 'add-tag', 'taxonomy' => 'category', 'post_type' => 'post',
            '_wpnonce_add-tag' => $visitor->field('_wpnonce_add-tag'), 'tag-name' => 'News', 'slug' => 'news']);
        $visitor->visit('/wp-admin/');
        $visitor->visit('/wp-admin/post.php', ['action' => 'post-quickdraft-save', '_wpnonce' => $visitor->field('_wpnonce'),
            'post_ID' => $visitor->field('post_ID'), 'post_type' => 'post', 'post_title' => 'A draft',
            'content' => 'Its text.']);
        $visitor->visit('/wp-admin/edit.php?post_status=draft');
        // The first theme is made of blocks, this one of PHP.
        $visitor->visit('/wp-admin/themes.php');
        preg_match('/themes\.php\?action=activate&amp;stylesheet=twentytwentyone&amp;_wpnonce=\w+/', $visitor->body, $found);
        $visitor->visit('/wp-admin/' . html_entity_decode($found[0] ?? 'themes.php'));
        foreach (['/', '/?p=1', '/?page_id=2', '/?s=hello', '/?p=999', '/wp-admin/widgets.php', '/wp-admin/nav-menus.php',
            '/wp-admin/customize.php'] as $page) {
            $visitor->visit($page);
        }
    },
];
