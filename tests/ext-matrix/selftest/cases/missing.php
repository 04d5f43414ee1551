<?php
// needs: ext:nonesuch
// expect: skip +missing: PHP has no extension nonesuch
