<?php
// one
# two
/* three
 **/ /** doc */ /**/ /***/ /**x*/ //# cr#[attr] #[ #! // #[
/* // */ # /* */ x(); // ?> <?php /* ?> */ # ?
/* unterminated ?> <?php 