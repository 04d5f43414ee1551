<?php
/*
 * What the runner of applications in worker mode (workers.php) needs for packages/symfony: the application of worker-mode/symfony.php as a project of
 * Composer and Symfony Runtime. None of its files is written for Spindle.
 */

declare(strict_types=1);

namespace Applications;

/** Makes the project in the folder, with the files that a new project has. */
function project(string $folder): void
{
    foreach (['public', 'bin', 'vendor', 'assets'] as $needed) {
        is_dir("$folder/$needed") || mkdir("$folder/$needed");
    }
    file_put_contents("$folder/.env", "APP_ENV=prod\nOF_A_FILE=yes\n");
    file_put_contents("$folder/composer.json", json_encode(['extra' => ['runtime' => ['test_envs' => ['try']]]]));
    // What Composer makes.
    $package = ROOT . '/packages/symfony/src';
    file_put_contents("$folder/vendor/autoload.php", '<?php
defined("WORK") || define("WORK", getenv("WORKER_MODE_FOLDER"));
foreach (["Component/Runtime", "Component/Dotenv", "Component/Console", "Component/Messenger", "Component/Messenger/Bridge/Doctrine"] as $part) {
    require_once "Symfony/$part/autoload.php";
}
spl_autoload_register(static function (string $class): void {
    str_starts_with($class, "Spindle\\\\Symfony\\\\") && require ' . var_export($package, true) . ' . "/" . strtr(substr($class, 16), "\\\\", "/") . ".php";
});
require_once ' . var_export(__DIR__ . '/worker-mode/symfony.php', true) . ';
return new stdClass();
');
    $template = file_get_contents(LIBRARIES . '/Symfony/Component/Runtime/Internal/autoload_runtime.template');
    file_put_contents("$folder/vendor/autoload_runtime.php", strtr($template, ['%project_dir%' => 'dirname(__DIR__, 1)',
        '%runtime_class%' => "'Symfony\\\\Component\\\\Runtime\\\\SymfonyRuntime'", '%runtime_options%' => "['test_envs' => ['try'], 'project_dir' => dirname(__DIR__, 1)]"]));
    file_put_contents("$folder/public/index.php", <<<'PHP'
        <?php

        use App\Kernel;

        require_once dirname(__DIR__).'/vendor/autoload_runtime.php';

        return function (array $context) {
            return new Kernel($context['APP_ENV'], (bool) $context['APP_DEBUG']);
        };
        PHP);
    file_put_contents("$folder/bin/console", <<<'PHP'
        #!/usr/bin/env php
        <?php

        use App\Kernel;
        use Symfony\Bundle\FrameworkBundle\Console\Application;

        require_once dirname(__DIR__).'/vendor/autoload_runtime.php';

        return function (array $context) {
            return new Application(new Kernel($context['APP_ENV'], (bool) $context['APP_DEBUG']));
        };
        PHP);
}
