// Secrets by appearance: what is redacted, what stays readable, and the time it takes.
import { strict as assert } from 'node:assert';
import { KnownSecrets } from '../../../src/base/knownSecrets';
import { redact, redactPieces } from '../../../src/base/redact';

const none = new KnownSecrets();
const PW = 'hunter2-Xy9';
const BODY = 'MIIEpAIBAAKCAQEA7bq4Xz';
const pem = (kind: string, line: string): string =>
  [`-----BEGIN ${kind}-----`, BODY, BODY, `-----END ${kind}-----`].join(line);
const long = (prefix: string, length: number): string => prefix + 'aB3dE6gH9jK2mN5pQ8sT'.repeat(8).slice(0, length);

/** A text, and the secret in it. */
const SECRETS: readonly (readonly [text: string, secret: string])[] = [
  [`postgres://u:${PW}@h/db`, PW],
  [`mongodb+srv://user:${PW}@cluster.example/db?x=1`, PW],
  [`redis://:${PW}@localhost:6379/0`, PW],
  [`amqps://u:${PW}@h`, PW],
  [`{"dsn":"postgres:\\/\\/u:${PW}@h\\/db"}`, PW],
  [`https://u:${PW}@host/path`, PW],
  [`https://u:p@ss${PW}@host/path`, PW],
  [`git clone https://${long('x', 30)}@github.com/a/b`, long('x', 30)],
  [`app --password ${PW} --verbose`, PW],
  [`app --password=${PW}`, PW],
  [`app --db-password '${PW}'`, PW],
  [`app --token ${PW}`, PW],
  [`app --api-key ${PW}`, PW],
  [`mysql -u root -p${PW} db`, PW],
  [`mysqldump -u root -p ${PW} db`, PW],
  [`["mysql","-u","root","-p${PW}"]`, PW],
  [`sshpass -p ${PW} ssh h`, PW],
  [`redis-cli -h h -a ${PW}`, PW],
  [`docker login -u me -p ${PW} registry`, PW],
  [`curl -u me:${PW} https://h`, PW],
  [`curl --user me:${PW} https://h`, PW],
  [`Cookie: session=${PW}; theme=dark`, PW],
  [`Set-Cookie: sid=${PW}; HttpOnly`, PW],
  [`-H "Cookie: sid=${PW}"`, PW],
  [`Authorization: Token ${PW}`, PW],
  [`Authorization: ApiKey ${PW}`, PW],
  [`Authorization: Digest-X ${PW}`, PW],
  [`X-Api-Key: ${PW}`, PW],
  [`X-Auth-Token: ${PW}`, PW],
  [`machine h.example login me password ${PW}`, PW],
  [`machine h.example\n  login me\n  password ${PW}\n`, PW],
  [`{"text":"machine h\\nlogin me\\npassword ${PW}\\n"}`, PW],
  [`{"pass":"${PW}"}`, PW],
  [`{"pass":"hunter"}`, 'hunter'],
  [`{"pwd":"${PW}"}`, PW],
  [`{"auth":"dXNlcjpwYXNzd29yZA=="}`, 'dXNlcj'],
  [`{"db_pass":"${PW}"}`, PW],
  [`{"passwd":"${PW}"}`, PW],
  [`{"credentials":{"user":"u","value":"${PW}"}}`, PW],
  [`{"secrets":{"first":"${PW}"}}`, PW],
  [`{"secrets":["${PW}"]}`, PW],
  [`{"tokens":{"access":"${PW}"}}`, PW],
  [`https://h/?key=${PW}&x=1`, PW],
  [`https://h/?sig=${PW}`, PW],
  [`https://h/?a=1&token=${PW}`, PW],
  [`https://h/?access_token=${PW}`, PW],
  [`https://b.s3.amazonaws.com/x?X-Amz-Signature=${PW}`, PW],
  [pem('RSA PRIVATE KEY', '\n'), BODY],
  [pem('OPENSSH PRIVATE KEY', '\\n'), BODY],
  [JSON.stringify({ key: pem('PRIVATE KEY', '\n') }), BODY],
  [`-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${BODY}\n`, BODY],
  [`DB_PASS=${PW}`, PW],
  [`PGPASSWORD=${PW} psql`, PW],
  [`MYSQL_PWD=${PW}`, PW],
  [`Server=h;Password=abc;Database=d`, 'abc'],
  [`DefaultEndpointsProtocol=https;AccountKey=${long('', 44)}==`, long('', 44)],
  [`SharedAccessKey=${long('', 44)}`, long('', 44)],
  [`AWS_SECRET_ACCESS_KEY=${long('', 40)}`, long('', 40)],
  [`psql -c "ALTER USER x PASSWORD '${PW}'"`, PW],
  [`CREATE USER a IDENTIFIED BY '${PW}'`, PW],
  [`passcode=${PW}`, PW],
  [`SSHPASS=${PW} sshpass -e ssh`, PW],
  [`jdbc:oracle:thin:u/${PW}@h:1521:x`, PW],
  [`curl -b "sid=${PW}" h`, PW],
  [`curl --cookie sid=${PW} h`, PW],
  [`http -a me:${PW} h`, PW],
  [`ldapsearch -D cn=x -w ${PW}`, PW],
  [`openssl enc -k ${PW}`, PW],
  [`unzip -P ${PW} a.zip`, PW],
  [`az login -u a -p ${PW}`, PW],
  [`podman login -u me -p ${PW}`, PW],
  [`helm registry login -u me -p ${PW} h`, PW],
  [`kubectl create secret generic x --from-literal=pw=${PW}`, PW],
  [`npm config set //registry.npmjs.org/:_authToken ${PW}`, PW],
  [`machine h login u password "${PW}"`, PW],
  [`login u password ${PW}`, PW],
  [`<password>${PW}</password>`, PW],
  [`<add key="ApiKey" value="${PW}"/>`, PW],
  [`{"command":"mysql","args":["-p${PW}"]}`, PW],
  [`{"command":"/usr/bin/mysqldump","args":["-u","x","-p${PW}"]}`, PW],
  [`{"command":"sshpass","args":["-p","${PW}","ssh"]}`, PW],
  [`{"command":"docker","args":["login","-p","${PW}"]}`, PW],
  [`{"command":"curl","args":["-u","me:${PW}"]}`, PW],
  [`["curl","--user=me:${PW}"]`, PW],
  [`{"dbPass":"${PW}"}`, PW],
  [`{"userPwd":"${PW}"}`, PW],
  [`{"DB_PASS":"${PW}"}`, PW],
  [`{"basicAuth":"u:${PW}"}`, PW],
  [`{"pgpass":"${PW}"}`, PW],
  [`{"jwt":"${PW}"}`, PW],
  [`{"password":{"value":"${PW}"}}`, PW],
  [`{"Secrets":{"a":"${PW}"}}`, PW],
  [`{"userCredentials":{"a":"${PW}"}}`, PW],
  [`{"authTokens":["${PW}"]}`, PW],
  [`{"sessionCookies":["${PW}"]}`, PW],
  [long('hvs.', 30), long('hvs.', 30)],
  [long('ATATT3', 40), long('ATATT3', 40)],
  [long('xai-', 60), long('xai-', 60)],
  [`AGE-SECRET-KEY-1${'Q'.repeat(58)}`, 'Q'.repeat(58)],
  ['AKIAIOSFODNN7EXAMPLF', 'AKIAIOSFODNN7'],
  [long('AIza', 35), long('AIza', 35)],
  [long('ghp_', 36), long('ghp_', 36)],
  [long('github_pat_', 40), long('github_pat_', 40)],
  [long('glpat-', 20), long('glpat-', 20)],
  [long('xoxb-', 30), long('xoxb-', 30)],
  [`https://hooks.slack.com/services/T0000/B0000/${long('', 24)}`, long('', 24)],
  [long('npm_', 36), long('npm_', 36)],
  [`//registry.npmjs.org/:_authToken=${PW}`, PW],
  [long('sk-proj-', 40), long('sk-proj-', 40)],
  [long('sk-ant-api03-', 60), long('sk-ant-api03-', 60)],
  [long('hf_', 34), long('hf_', 34)],
  [long('sk_live_', 24), long('sk_live_', 24)],
  [`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${long('', 20)}`, long('', 20)],
];

const HARMLESS: readonly string[] = [
  'tokens: 5',
  'token: 4096',
  'max_tokens=4096',
  '{"tokens":{"input":12,"output":340}}',
  '{"inputTokens":5,"total_tokens":12}',
  '{"auth_method":"oauth"}',
  '{"authMethods":[{"id":"login","name":"Sign in"}]}',
  '{"auth":"none"}',
  '{"pwd":"/home/me/project"}',
  'PWD=/home/me/project',
  '/home/me/work/secret-santa/src/tokens.ts:12',
  'https://example.com/a/b?page=2&sort=key',
  'https://host:8080/path',
  'git@github.com:owner/name.git',
  'mailto:me@example.com',
  'npm run build -p tsconfig.json',
  'mkdir -p src/workbench/commands',
  'unzip -p a.zip read.me',
  'see https://host/path -a option:value',
  '{"command":"npm","args":["test","-p","tsconfig.json"]}',
  '{"token":{"type":"string","description":"The token of the page"}}',
  '{"compass":"north-1"}',
  '<key>Name</key><string>password</string>',
  'grep -path x; find . -print',
  'The password is checked by the server.',
  'Passes: 12, pass: true, key: value',
  'author=someone-else.1',
  '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
  '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----',
  'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  '550e8400-e29b-41d4-a716-446655440000',
  '{"sessionId":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c","key":"ArrowDown"}',
  '{"stopReason":"end_turn","id":"agent-1"}',
];

describe('a secret', () => {
  for (const [text, secret] of SECRETS)
    it(`is redacted in ${text.slice(0, 50).replaceAll('\n', ' ')}`, () => {
      const clean = redact(text, none);
      assert.ok(!clean.includes(secret), clean);
      assert.match(clean, /\[redacted\]/);
      const pieces = [text.slice(0, text.length / 2), text.slice(text.length / 2)];
      if (!text.startsWith('{') && !text.startsWith('['))
        assert.ok(!redactPieces(pieces, none).join('').includes(secret));
      if (text.startsWith('{') || text.startsWith('[')) JSON.parse(clean);
    });

  it('is redacted in a URL whose rest stays readable', () => {
    assert.equal(redact(`postgres://u:${PW}@h/db`, none), 'postgres://u:[redacted]@h/db');
    assert.equal(redact(`https://h/?key=${PW}&x=1`, none), 'https://h/?key=[redacted]&x=1');
  });
});

describe('ordinary text', () => {
  for (const text of HARMLESS)
    it(`stays readable: ${text.slice(0, 50).replaceAll('\n', ' ')}`, () => assert.equal(redact(text, none), text));
});
