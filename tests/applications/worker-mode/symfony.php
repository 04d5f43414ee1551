<?php

/**
 * An application on Symfony's kernel, with its framework, Twig and security bundles: what it returns handles one request.
 *
 * Under php-fpm each request has a process's kernel to itself, in application mode one of its instance. In worker mode kernels are lent, as one
 * has a request at a time.
 */

namespace App;

use Symfony\Bundle\FrameworkBundle\Controller\AbstractController;
use Symfony\Bundle\FrameworkBundle\{FrameworkBundle, Kernel\MicroKernelTrait};
use Symfony\Bundle\{SecurityBundle\SecurityBundle, TwigBundle\TwigBundle};
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
use Symfony\Component\HttpFoundation\{BinaryFileResponse, Cookie, JsonResponse, Request, Response, ResponseHeaderBag, StreamedResponse};
use Symfony\Component\HttpKernel\{Event\RequestEvent, Exception\HttpException, HttpKernelInterface, Kernel as Base};
use Symfony\Component\Routing\Loader\Configurator\RoutingConfigurator;

foreach (['Bundle/FrameworkBundle', 'Bundle/TwigBundle', 'Bundle/SecurityBundle', 'Component/Yaml'] as $part) {
    require_once "Symfony/$part/autoload.php";
}
require_once 'Twig/autoload.php';

/** Lets another request run, as a query of a database does. */
function pause(): void
{
    usleep(random_int(0, 2000));
}

final class Kernel extends Base
{
    use MicroKernelTrait;

    public function registerBundles(): iterable
    {
        return [new FrameworkBundle(), new TwigBundle(), new SecurityBundle()];
    }

    public function getProjectDir(): string
    {
        return WORK . '/symfony';
    }

    protected function configureContainer(ContainerConfigurator $container): void
    {
        $container->extension('framework', [
            'secret' => 'of a test', 'http_method_override' => true, 'csrf_protection' => true,
            'session' => ['storage_factory_id' => 'session.storage.factory.native', 'handler_id' => null, 'save_path' => WORK . '/sessions',
                'cookie_samesite' => 'lax', 'cookie_secure' => 'auto'],
            'fragments' => ['enabled' => true],
        ]);
        $container->extension('twig', ['default_path' => __DIR__ . '/templates', 'strict_variables' => true]);
        $container->extension('security', [
            'enable_authenticator_manager' => true,
            'password_hashers' => ['Symfony\Component\Security\Core\User\InMemoryUser' => 'plaintext'],
            'providers' => ['users' => ['memory' => ['users' => array_column(array_map(
                static fn (int $n) => ["user$n", ['password' => "secret$n", 'roles' => $n % 2 ? ['ROLE_USER'] : ['ROLE_USER', 'ROLE_EVEN']]],
                range(0, 63)), 1, 0)]]],
            'firewalls' => ['main' => ['lazy' => true, 'provider' => 'users', 'http_basic' => ['realm' => 'test'], 'entry_point' => 'form_login',
                'form_login' => ['login_path' => '/login', 'check_path' => '/login', 'enable_csrf' => true, 'default_target_path' => '/account'],
                'logout' => ['path' => '/logout', 'target' => '/']]],
            'access_control' => [['path' => '^/account', 'roles' => 'ROLE_USER'], ['path' => '^/even', 'roles' => 'ROLE_EVEN']],
        ]);
        $services = $container->services();
        $services->set(Controller::class)->autowire()->autoconfigure()->public()->tag('controller.service_arguments');
        $services->set(Listener::class)->tag('kernel.event_listener', ['event' => 'kernel.request', 'priority' => 100])
            ->tag('kernel.event_listener', ['event' => 'kernel.response', 'method' => 'onResponse']);
    }

    protected function configureRoutes(RoutingConfigurator $routes): void
    {
        foreach (['page' => '/', 'login' => '/login', 'account' => '/account', 'even' => '/even', 'count' => '/count', 'form' => '/form', 'object' => '/json',
            'cookies' => '/cookies', 'streamed' => '/stream', 'download' => '/file', 'cached' => '/cached', 'upload' => '/upload', 'fails' => '/fails',
            'teapot' => '/teapot', 'forwarded' => '/forward', 'printed' => '/printed', 'left' => '/left/{name}', 'warned' => '/warned',
            'globals' => '/globals'] as $method => $path) {
            $routes->add($method, $path)->controller([Controller::class, $method]);
        }
        $routes->add('item', '/item/{id<\d+>}')->controller([Controller::class, 'item'])->methods(['PUT', 'DELETE']);
        $routes->add('hello', '/hello/{name}')->controller([Controller::class, 'hello'])->defaults(['_locale' => 'en']);
        $routes->add('logout', '/logout');
    }
}

final class Listener
{
    public function __invoke(RequestEvent $event): void
    {
        pause();
        $event->getRequest()->attributes->set('asked', $event->getRequest()->query->get('n', '-'));
    }

    public function onResponse(\Symfony\Component\HttpKernel\Event\ResponseEvent $event): void
    {
        pause();
        $event->getResponse()->headers->set('X-Asked', $event->getRequest()->attributes->get('asked', '?'));
    }
}

final class Controller extends AbstractController
{
    public function page(Request $request): Response
    {
        pause();
        return $this->render('page.twig', ['name' => $request->query->get('n')]);
    }

    public function hello(string $name, Request $request): Response
    {
        pause();
        return new Response("Hello, $name, in {$request->getLocale()} by {$request->getMethod()} with {$request->headers->get('X-N')}", 200, ['X-Name' => $name]);
    }

    public function login(Request $request): Response
    {
        $session = $request->getSession();
        $error = $session->get('_security.last_error');
        $session->remove('_security.last_error');
        return $this->render('login.twig', ['error' => $error?->getMessageKey(), 'last' => $session->get('_security.last_username', '')]);
    }

    public function account(): Response
    {
        pause();
        return $this->render('account.twig');
    }

    public function even(): Response
    {
        return new Response('even');
    }

    public function count(Request $request): Response
    {
        $session = $request->getSession();
        $count = $session->get('count', 0) + 1;
        pause();
        $session->set('count', $count);
        $session->set('n', $request->query->get('n'));
        return new JsonResponse(['count' => $count, 'all' => $session->all()], 200, $count === 2 ? ['X-Second' => 'yes'] : []);
    }

    public function form(Request $request): Response
    {
        if ($request->isMethod('POST')) {
            if (!$this->isCsrfTokenValid('form', $request->request->get('token'))) {
                throw new HttpException(422, 'no token');
            }
            pause();
            $this->addFlash('notice', 'saved: ' . json_encode($request->request->all('f')));
            return $this->redirectToRoute('form', ['n' => $request->request->all('f')['n']], 303);
        }
        return $this->render('form.twig');
    }

    public function object(Request $request): Response
    {
        $given = $request->toArray();
        pause();
        return $this->json(['given' => $given, 'type' => $request->getContentType(), 'accept' => $request->getAcceptableContentTypes()], 201);
    }

    public function cookies(Request $request): Response
    {
        $response = new Response(json_encode($request->cookies->all()));
        foreach ([1, 2, 3] as $i) {
            $response->headers->setCookie(Cookie::create("c$i", $request->query->get('n') . " $i", 0, "/p$i", null, null, $i > 1, false, 'strict'));
            pause();
        }
        setcookie('native', $request->query->get('n'));
        return $response;
    }

    public function streamed(Request $request): Response
    {
        $n = $request->query->get('n');
        return new StreamedResponse(function () use ($n) {
            for ($i = 0; $i < 5; $i++) {
                echo str_repeat("$n,$i;", 1000);
                flush();
                pause();
            }
        }, 200, ['Content-Type' => 'text/csv']);
    }

    public function download(Request $request): Response
    {
        $response = new BinaryFileResponse(WORK . '/file.bin', 200, [], true, ResponseHeaderBag::DISPOSITION_ATTACHMENT, true);
        return $response->setContentDisposition('attachment', "for {$request->query->get('n')}.bin");
    }

    public function cached(Request $request): Response
    {
        $response = (new Response())->setEtag(md5($request->query->get('n')))->setPublic()->setMaxAge(60);
        return $response->isNotModified($request) ? $response : $response->setContent("cached {$request->query->get('n')}");
    }

    public function upload(Request $request): Response
    {
        pause();
        $found = [];
        foreach ($request->files->all() as $name => $file) {
            foreach (is_array($file) ? $file : [$file] as $one) {
                $found[] = [$name, $one->getClientOriginalName(), $one->getClientMimeType(), $one->getSize(), md5_file($one->getPathname())];
            }
        }
        return $this->json(['files' => $found, 'fields' => $request->request->all()]);
    }

    public function fails(Request $request): Response
    {
        pause();
        throw new \LogicException("fails for {$request->query->get('n')}");
    }

    public function teapot(Request $request): Response
    {
        throw new HttpException(418, 'short and stout', null, ['X-Pot' => $request->query->get('n')]);
    }

    public function forwarded(Request $request): Response
    {
        pause();
        return $this->forward(Controller::class . '::hello', ['name' => 'forwarded ' . $request->query->get('n')]);
    }

    public function printed(Request $request): Response
    {
        echo "printed for {$request->query->get('n')}, ";
        pause();
        ob_start();
        echo 'buffered';
        pause();
        header('X-Native: ' . $request->query->get('n'));
        return new Response(strrev(ob_get_clean()));
    }

    public function left(string $name): void
    {
        header('X-Left: yes');
        http_response_code(202);
        echo "left by $name";
        pause();
        register_shutdown_function(static function () use ($name): void { echo ", and shut down for $name"; });
        exit;
    }

    public function warned(Request $request): Response
    {
        $seen = [];
        set_error_handler(static function (int $level, string $message) use (&$seen): bool { $seen[] = $message; return true; });
        pause();
        trigger_error("warned {$request->query->get('n')}");
        pause();
        restore_error_handler();
        return new Response(implode('', $seen));
    }

    public function globals(): Response
    {
        pause();
        $server = array_intersect_key($_SERVER, array_flip(['REQUEST_METHOD', 'REQUEST_URI', 'QUERY_STRING', 'SERVER_PROTOCOL', 'HTTP_X_N',
            'HTTP_ACCEPT', 'HTTP_USER_AGENT', 'CONTENT_TYPE', 'CONTENT_LENGTH', 'PHP_AUTH_USER', 'PHP_AUTH_PW']));
        ksort($server);
        return new JsonResponse([$_GET, $_POST, $_COOKIE, $_FILES, $_REQUEST, $server, file_get_contents('php://input')]);
    }

    public function item(int $id, Request $request): Response
    {
        return new Response("{$request->getMethod()} $id", $request->isMethod('DELETE') ? 204 : 200);
    }
}

/** Where applications keep what each process has one of. */
final class Process
{
    public static ?Kernel $kernel = null;
}

$free = [];
return static function () use (&$free): void {
    if (getenv('WORKER_MODE') === 'application') {
        $kernel = Process::$kernel ??= new Kernel('prod', false);
    } else {
        $kernel = array_pop($free) ?? new Kernel('prod', false);
    }
    $request = Request::createFromGlobals();
    $response = $kernel->handle($request, HttpKernelInterface::MAIN_REQUEST, true);
    $response->send();
    $kernel->terminate($request, $response);
    $free[] = $kernel; // a request that exits keeps its own
};
