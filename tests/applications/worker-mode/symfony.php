<?php

/**
 * An application on Symfony's kernel, with its framework, Twig and security bundles, and Doctrine: what it returns handles one request in
 * worker mode, where kernels are lent, as one has a request at a time.
 *
 * Under php-fpm and in application mode it is served by its own front, for Symfony Runtime (see project() in ../symfony.php).
 */

namespace App;

use Doctrine\DBAL\{Connection, DriverManager};
use Doctrine\ORM\{Configuration, EntityManager, EntityManagerInterface, Mapping as ORM, Mapping\Driver\AttributeDriver, Tools\SchemaTool};
use Symfony\Bundle\FrameworkBundle\Controller\AbstractController;
use Symfony\Bundle\FrameworkBundle\{FrameworkBundle, Kernel\MicroKernelTrait};
use Symfony\Bundle\{SecurityBundle\SecurityBundle, TwigBundle\TwigBundle};
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
use Symfony\Component\HttpFoundation\{BinaryFileResponse, Cookie, JsonResponse, Request, Response, ResponseHeaderBag, StreamedResponse};
use Symfony\Component\HttpKernel\{Event\RequestEvent, Exception\HttpException, HttpKernelInterface, Kernel as Base};
use Symfony\Component\Routing\Loader\Configurator\RoutingConfigurator;

foreach (['Symfony/Bundle/FrameworkBundle', 'Symfony/Bundle/TwigBundle', 'Symfony/Bundle/SecurityBundle', 'Symfony/Component/Yaml', 'Twig', 'Doctrine/ORM'] as $part) {
    require_once "$part/autoload.php";
}

/** Lets another request run, as a query of a database does. */
function pause(): void
{
    usleep((int) (getenv('WORKER_MODE_PAUSE') ?: random_int(0, 2000)));
}

#[ORM\Entity, ORM\Table('authors')]
class Author
{
    #[ORM\Id, ORM\GeneratedValue, ORM\Column]
    public ?int $id = null;

    public function __construct(#[ORM\Column(length: 40)] private string $name) {}

    public function name(): string
    {
        return $this->name;
    }
}

#[ORM\Entity, ORM\Table('notes')]
class Note
{
    #[ORM\Id, ORM\GeneratedValue, ORM\Column]
    public ?int $id = null;

    public function __construct(#[ORM\ManyToOne(targetEntity: Author::class, cascade: ['persist', 'remove'])] public Author $author, #[ORM\Column] public string $text) {}
}

/** Makes an entity manager with a database of its own, in memory. */
final class Entities
{
    public static function make(): EntityManagerInterface
    {
        $configuration = new Configuration();
        $configuration->setMetadataDriverImpl(new AttributeDriver([]));
        $configuration->setProxyDir(WORK . '/symfony/proxies');
        $configuration->setProxyNamespace('Proxies');
        $configuration->setAutoGenerateProxyClasses(\Doctrine\ORM\Proxy\ProxyFactory::AUTOGENERATE_FILE_NOT_EXISTS);
        $manager = new EntityManager(DriverManager::getConnection(['driver' => 'pdo_sqlite', 'memory' => true]), $configuration);
        (new SchemaTool($manager))->createSchema(array_map($manager->getClassMetadata(...), [Author::class, Note::class]));
        return $manager;
    }
}

final class Kernel extends Base
{
    use MicroKernelTrait;

    public function registerBundles(): iterable
    {
        if ($this->environment === 'broken') {
            throw new \LogicException('the kernel is broken');
        }
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
            ...Base::MAJOR_VERSION < 6 ? ['enable_authenticator_manager' => true] : [],
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
        // As DoctrineBundle has it: what a request has read is not known to the next one.
        $services->set(EntityManagerInterface::class)->factory([Entities::class, 'make'])->tag('kernel.reset', ['method' => 'clear']);
        // As DoctrineBundle has them, too: public services, of which a parameter has the names.
        $container->parameters()->set('doctrine.connections', ['default' => 'doctrine.dbal.default_connection', 'unused' => 'doctrine.dbal.unused_connection']);
        $services->set('doctrine.dbal.default_connection', Connection::class)->factory([DriverManager::class, 'getConnection'])
            ->args([['driver' => 'pdo_sqlite', 'path' => WORK . '/orders.db']])->public();
        $services->set('doctrine.dbal.unused_connection', Connection::class)->factory([DriverManager::class, 'noSuchMethod'])->public();
        $services->alias(Connection::class, 'doctrine.dbal.default_connection');
        $services->set(Controller::class)->autowire()->autoconfigure()->public()->tag('controller.service_arguments');
        $services->set(Listener::class)->tag('kernel.event_listener', ['event' => 'kernel.request', 'priority' => 100])
            ->tag('kernel.event_listener', ['event' => 'kernel.response', 'method' => 'onResponse'])
            ->tag('kernel.event_listener', ['event' => 'kernel.exception', 'method' => 'onException']);
    }

    protected function configureRoutes(RoutingConfigurator $routes): void
    {
        foreach (['page' => '/', 'login' => '/login', 'account' => '/account', 'even' => '/even', 'count' => '/count', 'form' => '/form', 'object' => '/json',
            'cookies' => '/cookies', 'streamed' => '/stream', 'download' => '/file', 'cached' => '/cached', 'upload' => '/upload', 'fails' => '/fails',
            'teapot' => '/teapot', 'forwarded' => '/forward', 'printed' => '/printed', 'left' => '/left/{name}', 'warned' => '/warned',
            'globals' => '/globals', 'settings' => '/settings', 'broken' => '/broken', 'unshown' => '/unshown', 'forever' => '/forever'] as $method => $path) {
            $routes->add($method, $path)->controller([Controller::class, $method]);
        }
        $routes->add('item', '/item/{id<\d+>}')->controller([Controller::class, 'item'])->methods(['PUT', 'DELETE']);
        $routes->add('hello', '/hello/{name}')->controller([Controller::class, 'hello'])->defaults(['_locale' => 'en']);
        $routes->add('order', '/order/{n<\d+>}')->controller([Controller::class, 'order']);
        $routes->add('notes', '/notes/{of}')->controller([Controller::class, 'notes']);
        $routes->add('forgotten', '/forgotten/{of}')->controller([Controller::class, 'forgotten']);
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

    public function onException(\Symfony\Component\HttpKernel\Event\ExceptionEvent $event): void
    {
        if ($event->getRequest()->getPathInfo() === '/unshown') {
            throw new \LogicException('a secret of the source');
        }
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

    public function notes(string $of, EntityManagerInterface $manager): Response
    {
        $known = count($manager->getUnitOfWork()->getScheduledEntityInsertions());
        foreach (['one', 'two'] as $text) {
            $manager->persist(new Note(new Author("$of, $text"), "note $text of $of"));
            pause();
        }
        $manager->flush();
        $manager->clear();
        pause();
        $found = $manager->createQuery('SELECT n FROM App\Note n WHERE n.text LIKE :of ORDER BY n.id')->setParameter('of', "% of $of")->getResult();
        $said = array_map(static fn (Note $note) => [$note->text, get_parent_class($note->author), $note->author->name()], $found);
        array_map($manager->remove(...), $found);
        $manager->flush();
        return $this->json([$known, $said, $manager->getUnitOfWork()->size()]);
    }

    /** Leaves a transaction open: the first fails, the second forgets it. */
    public function order(int $n, Connection $db): Response
    {
        static $kept; // as a service keeps a statement
        $kept[] = $db->getNativeConnection();
        $db->executeStatement('create temporary table basket (n int)'); // fails if it exists
        $db->beginTransaction();
        $db->insert('orders', ['n' => $n]);
        if ($n === 1) {
            throw new \DomainException('the payment is refused');
        }
        $n > 2 && $db->commit();
        return new Response("order $n at level {$db->getTransactionNestingLevel()}");
    }

    /** Fails with entities that are known and not written. */
    public function forgotten(string $of, EntityManagerInterface $manager): Response
    {
        $manager->persist(new Note(new Author($of), $of));
        pause();
        throw new \DomainException("forgotten by $of");
    }

    /** What the runtime sets. */
    public function settings(): Response
    {
        $handler = set_error_handler(null);
        restore_error_handler();
        return $this->json([error_reporting(), ini_get('display_errors'), get_debug_type($handler[0] ?? $handler), $_SERVER['APP_ENV'], $_ENV['OF_A_FILE'], $_SERVER['SCRIPT_NAME'],
            basename($_SERVER['SCRIPT_FILENAME']), basename($_SERVER['DOCUMENT_ROOT'])]);
    }

    /** Fails where the kernel catches nothing, which then shows its page. */
    public function broken(): Response
    {
        return new StreamedResponse(static function (): never {
            pause();
            throw new \LogicException('a secret of the source');
        });
    }

    /** Fails, and so does what is to show it. */
    public function unshown(): never
    {
        pause();
        throw new \LogicException('not shown');
    }

    public function forever(): never
    {
        set_time_limit(1);
        while (true);
    }

    public function item(int $id, Request $request): Response
    {
        return new Response("{$request->getMethod()} $id", $request->isMethod('DELETE') ? 204 : 200);
    }
}

$free = [];
return static function () use (&$free): void {
    $kernel = array_pop($free) ?? new Kernel('prod', false);
    $request = Request::createFromGlobals();
    $response = $kernel->handle($request, HttpKernelInterface::MAIN_REQUEST, true);
    $response->send();
    $kernel->terminate($request, $response);
    $free[] = $kernel; // a request that exits keeps its own
};
