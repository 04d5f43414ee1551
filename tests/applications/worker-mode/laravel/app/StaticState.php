<?php

namespace App;

use Carbon\{Carbon, CarbonImmutable, Translator};
use Illuminate\Database\Eloquent\{Model, SoftDeletes};
use Illuminate\Support\Facades\{Date, Route};

/** As State: what is in static properties, and what routes keep. */
final class StaticState
{
    /** @return array<string, array{\Closure, \Closure}> */
    public static function kinds(): array
    {
        $kinds = [
            'events of models' => [fn () => Model::unsetEventDispatcher(), fn () => get_debug_type(Model::getEventDispatcher())],
            'scope of a model' => [fn () => User::addGlobalScope('of', fn ($query) => $query->where('of', 'changed')), fn () => User::query()->toSql()],
            'scope of a model that has not booted' => [fn () => self::scope(Fresh::class) && false ?: State::LATER, fn () => self::scopes(Fresh::class)],
            'scope of a model that boots then' => [fn () => self::scope(Deleted::class) && new Deleted() && false ?: State::LATER,
                fn () => array_diff(self::scopes(Deleted::class), ['Illuminate\Database\Eloquent\SoftDeletingScope'])],
            'own scope of a model' => [fn () => new Deleted() && false ?: State::LATER, fn () => Deleted::query()->toSql()],
            'own scope of a model that boots without events' => [fn () => Model::unsetEventDispatcher() ?? new Quiet() && false ?: State::LATER,
                fn () => self::isBooted(Quiet::class) ? self::scopes(Quiet::class) : ['Illuminate\Database\Eloquent\SoftDeletingScope']],
            'class of dates' => [fn () => Date::use(CarbonImmutable::class), fn () => now()::class],
            'function for dates' => [fn () => Date::use(fn ($date) => $date->addYears(100)), fn () => now()->year > 2100],
            'controllers' => [fn () => collect(Route::getRoutes()->getRoutes())->each->gatherMiddleware(),
                fn () => count(array_filter(Route::getRoutes()->getRoutes(), fn ($route) => $route->controller !== null))],
        ];
        foreach ([Carbon::class, CarbonImmutable::class] as $class) {
            $kinds += [
                "clock of $class" => [fn () => $class::setTestNow('2001-01-01'), fn () => [$class::hasTestNow(), $class::now()->year > 2001]],
                "week of $class" => [fn () => $class::setWeekStartsAt(0) ?? $class::setWeekEndsAt(6), fn () => [$class::getWeekStartsAt(), $class::getWeekEndsAt()]],
                "weekend of $class" => [fn () => $class::setWeekendDays([1]), fn () => $class::getWeekendDays()],
                "noon of $class" => [fn () => $class::setMidDayAt(13), fn () => $class::getMidDayAt()],
                "text of $class" => [fn () => $class::setToStringFormat('Y'), fn () => strlen((string) $class::now())],
                "JSON of $class" => [fn () => $class::serializeUsing(fn () => 'changed'), fn () => json_encode($class::create(2024))],
                "strict mode of $class" => [fn () => $class::useStrictMode(false), fn () => $class::isStrictModeEnabled()],
                "overflow of $class" => [fn () => $class::useMonthsOverflow(false) ?? $class::useYearsOverflow(false), fn () => [$class::shouldOverflowMonths(), $class::shouldOverflowYears()]],
                "differences of $class" => [fn () => $class::setHumanDiffOptions($class::JUST_NOW), fn () => $class::getHumanDiffOptions()],
                "translator of $class" => [fn () => $class::setTranslator(new class('de') extends Translator {}), fn () => get_debug_type($class::getTranslator())],
                "locale of $class" => [fn () => $class::setLocale('de'), fn () => [$class::getLocale(), $class::create(2024)->dayName]],
            ];
        }
        return $kinds;
    }

    /** @param class-string $model */
    private static function scope(string $model): \Closure
    {
        return $model::addGlobalScope('of', static fn ($query) => $query->where('of', 'changed'));
    }

    /** The names of scopes of a class, which is not booted by that. */
    private static function scopes(string $class): array
    {
        return array_keys((new \ReflectionProperty(Model::class, 'globalScopes'))->getValue()[$class] ?? []);
    }

    private static function isBooted(string $class): bool
    {
        return isset((new \ReflectionProperty(Model::class, 'booted'))->getValue()[$class]);
    }
}

final class Fresh extends Model {}

final class Deleted extends Model
{
    use SoftDeletes;
}

final class Quiet extends Model
{
    use SoftDeletes;
}
