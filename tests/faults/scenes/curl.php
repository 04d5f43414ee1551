<?php
// needs: peer ext:curl
namespace Matrix;

return ['work' => function (int $copy): array {
    $answers = [];
    $body = \str_repeat("body $copy ", 10_000);
    foreach ([[http("/5/get$copy"), []], [http('/5'), [CURLOPT_POSTFIELDS => $body]], [https("/5/tls$copy"), []]] as [$url, $options]) {
        $curl = curl($url, $options + [CURLOPT_TIMEOUT => 5]);
        $answer = \curl_exec($curl);
        $answer === false and throw new Told('curl: ' . \curl_errno($curl));
        $answers[] = [\curl_getinfo($curl, CURLINFO_RESPONSE_CODE), \strlen($answer), \md5($answer)];
    }
    return $answers;
}];
