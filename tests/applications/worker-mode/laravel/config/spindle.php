<?php return ['flush' => ['counter.flushed']];
