// Sources of diagrams that try to run something, to fetch something, or to take all time and
// memory.

const FLOW = 'flowchart LR\n';
const many = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_one, n) => line(n)).join('\n');
const init = (config: unknown, source = 'A-->B'): string => `%%{init: ${JSON.stringify(config)}}%%\n${FLOW}${source}`;
const front = (config: string, source = 'A-->B'): string => `---\nconfig:\n${config}\n---\n${FLOW}${source}`;

export const HOSTILE_DIAGRAMS: Readonly<Record<string, string>> = {
  'script in a label': `${FLOW}A["<script>globalThis.pwned=1</script>"]-->B`,
  'script in an edge': `${FLOW}A-->|"<script>globalThis.pwned=1</script>"|B`,
  'image with a handler': `${FLOW}A["<img src=x onerror='globalThis.pwned=1'>"]-->B`,
  'image of a host': `${FLOW}A["<img src='https://evil.invalid/a.png'>"]-->B`,
  'svg with a handler': `${FLOW}A["<svg onload='globalThis.pwned=1'></svg>"]-->B`,
  'svg with a script': `${FLOW}A["<svg><script>globalThis.pwned=1</script></svg>"]-->B`,
  'iframe with a script': `${FLOW}A["<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>"]-->B`,
  'iframe of a host': `${FLOW}A["<iframe src='https://evil.invalid'></iframe>"]-->B`,
  'object of a host': `${FLOW}A["<object data='https://evil.invalid'></object>"]-->B`,
  'form to a host': `${FLOW}A["<form action='https://evil.invalid'><button>x</button></form>"]-->B`,
  'meta refresh': `${FLOW}A["<meta http-equiv='refresh' content='0;url=https://evil.invalid'>"]-->B`,
  'base of a host': `${FLOW}A["<base href='https://evil.invalid/'>"]-->B`,
  'link of a style sheet': `${FLOW}A["<link rel='stylesheet' href='https://evil.invalid/a.css'>"]-->B`,
  'style with an import': `${FLOW}A["<style>@import 'https://evil.invalid/a.css';</style>"]-->B`,
  'details with a handler': `${FLOW}A["<details open ontoggle='globalThis.pwned=1'>x</details>"]-->B`,
  'closed script and style': `${FLOW}A["</style></script><script>globalThis.pwned=1</script>"]-->B`,
  'link with javascript': `${FLOW}A["<a href='javascript:globalThis.pwned=1'>x</a>"]-->B`,
  'entities that make a tag': `${FLOW}A["#lt;script#gt;globalThis.pwned=1#lt;/script#gt;"]-->B`,
  'entities of HTML': `${FLOW}A["&lt;img src=x onerror=globalThis.pwned=1&gt;"]-->B`,
  'a broken tag': `${FLOW}A["<img src=x onerror=globalThis.pwned=1 "]-->B`,
  'a comment around a tag': `${FLOW}A["<!--><img src=x onerror=globalThis.pwned=1>-->"]-->B`,
  'math with a tag': `${FLOW}A["$$<img src=x onerror=globalThis.pwned=1>$$"]-->B`,
  'math with a link': `${FLOW}A["$$\\\\href{javascript:globalThis.pwned=1}{x}$$"]-->B`,
  'Markdown with an image': `${FLOW}A["\`![x](https://evil.invalid/a.png)\`"]-->B`,
  'Markdown with a link': `${FLOW}A["\`[x](javascript:globalThis.pwned=1)\`"]-->B`,
  'a link by click': `${FLOW}A-->B\nclick A "https://evil.invalid"`,
  'a script by click': `${FLOW}A-->B\nclick A "javascript:globalThis.pwned=1"`,
  'a function by click': `${FLOW}A-->B\nclick A alert`,
  'a call by click': `${FLOW}A-->B\nclick A call alert("x")`,
  'a call of something by click': `${FLOW}A-->B\nclick A call eval("globalThis.pwned=1")`,
  'a link in a tab by click': `${FLOW}A-->B\nclick A href "javascript:globalThis.pwned=1" "x" _blank`,
  'a picture as a node': `${FLOW}A@{ img: "https://evil.invalid/a.png", h: 60, w: 60 }\nA-->B`,
  'a picture of code as a node': `${FLOW}A@{ img: "javascript:globalThis.pwned=1", h: 60, w: 60 }\nA-->B`,
  'an icon as a node': `${FLOW}A@{ icon: "evil:x", label: "x" }\nA-->B`,
  'a font of icons': `${FLOW}A["fa:fa-ban <i class='x' onclick='globalThis.pwned=1'></i>"]-->B`,
  'a style with an address': `${FLOW}A-->B\nstyle A fill:url(https://evil.invalid/a.svg#x)`,
  'a style with an escaped address': `${FLOW}A-->B\nstyle A background:u\\72l(https://evil.invalid/a.png)`,
  'a class with an address': `${FLOW}A-->B\nclassDef x fill:red,background-image:url('https://evil.invalid/a.png')\nclass A x`,
  'a class that closes its rule': `${FLOW}A-->B\nclassDef x fill:red}*{background:url(https://evil.invalid/)}\nclass A x`,
  'a line style with an address': `${FLOW}A-->B\nlinkStyle 0 stroke:url(https://evil.invalid/a.svg#x)`,
  'a loose level by a directive': init(
    { securityLevel: 'loose' },
    'A["<img src=x onerror=globalThis.pwned=1>"]-->B\nclick A alert',
  ),
  'no level by a directive': init(
    { securityLevel: 'antiscript', htmlLabels: true },
    'A["<b onclick=globalThis.pwned=1>x</b>"]',
  ),
  'HTML labels by a directive': init(
    { htmlLabels: true, flowchart: { htmlLabels: true } },
    'A["<img src=https://evil.invalid>"]',
  ),
  'other secure keys by a directive': init({ secure: [], securityLevel: 'loose' }, 'A-->B\nclick A alert'),
  'a sandbox by a directive': init({ securityLevel: 'sandbox' }, 'A["<script>parent.pwned=1</script>"]'),
  'a style sheet by a directive': init({
    themeCSS: "@import 'https://evil.invalid/a.css'; * { background: url(https://evil.invalid/b.png) }",
  }),
  'variables of a theme by a directive': init({
    theme: 'base',
    themeVariables: { primaryColor: 'red;}</style><script>globalThis.pwned=1</script>' },
  }),
  'a font by a directive': init({ fontFamily: "x; } @import 'https://evil.invalid/a.css'; *{" }),
  'a purifier by a directive': init(
    { dompurifyConfig: { ADD_TAGS: ['script', 'iframe'], ADD_ATTR: ['onload'] } },
    'A["<iframe onload=globalThis.pwned=1></iframe>"]',
  ),
  'a prototype by a directive': init({ __proto__: { pwned: 1 }, constructor: { prototype: { pwned: 1 } } }),
  'a prototype by words': `%%{init: {"__proto__": {"pwned": 1}}}%%\n${FLOW}A-->B`,
  'more text by a directive': init({ maxTextSize: 1e9, maxEdges: 1e9 }),
  'a loose level by front matter': front(
    '  securityLevel: loose\n  htmlLabels: true',
    'A["<img src=x onerror=globalThis.pwned=1>"]-->B\nclick A alert',
  ),
  'a style sheet by front matter': front(`  themeCSS: "*{background:url(https://evil.invalid/)}"`),
  'YAML that grows': `---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ntitle: *d\n---\n${FLOW}A-->B`,
  'YAML of a function': `---\ntitle: !!js/function 'function(){globalThis.pwned=1}'\n---\n${FLOW}A-->B`,
  'a title with a tag': `---\ntitle: "<img src=x onerror=globalThis.pwned=1>"\n---\n${FLOW}A-->B`,
  'a description with a tag': `${FLOW}accTitle: <img src=x onerror=globalThis.pwned=1>\naccDescr: <script>globalThis.pwned=1</script>\nA-->B`,
  'a message with a tag': 'sequenceDiagram\nA->>B: <img src=x onerror=globalThis.pwned=1>',
  'an actor with a link':
    'sequenceDiagram\nparticipant A\nlink A: x @ javascript:globalThis.pwned=1\nlinks A: {"y": "https://evil.invalid"}\nA->>B: x',
  'an actor with properties':
    'sequenceDiagram\nparticipant A\nproperties A: {"class": "x", "onclick": "globalThis.pwned=1"}\ndetails A: x\nA->>B: x',
  'a class with a callback':
    'classDiagram\nclass A\ncallback A "alert" "x"\nclick A call alert()\nclick A href "javascript:globalThis.pwned=1"',
  'a member with a tag': 'classDiagram\nclass A {\n+<img src=x onerror=globalThis.pwned=1> x\n}',
  'a state with a tag':
    'stateDiagram-v2\ns1 : <script>globalThis.pwned=1</script>\n[*] --> s1\nclick s1 href "javascript:globalThis.pwned=1"',
  'a task with a call':
    'gantt\nsection <img src=x onerror=globalThis.pwned=1>\nA :a1, 2026-01-01, 3d\nclick a1 call alert()\nclick a1 href "javascript:globalThis.pwned=1"',
  'dates without an end': 'gantt\ndateFormat X\nA :a1, 0, 99999999999999d',
  'ticks without an end': 'gantt\ndateFormat YYYY-MM-DD\ntickInterval 1millisecond\nA :a1, 2000-01-01, 9000d',
  'excluded days without an end':
    'gantt\nexcludes weekends monday tuesday wednesday thursday friday\nA :a1, 2026-01-01, 30d',
  'a slice with a tag':
    'pie title <img src=x onerror=globalThis.pwned=1>\n"<script>globalThis.pwned=1</script>" : 1\n"b" : 2',
  'a branch with a tag':
    'gitGraph\ncommit id: "<img src=x onerror=globalThis.pwned=1>" tag: "<script>globalThis.pwned=1</script>"\nbranch "<b>"\ncommit',
  'an entity with a tag':
    'erDiagram\n"<img src=x onerror=globalThis.pwned=1>" ||--o{ B : "<script>globalThis.pwned=1</script>"',
  'a context with a sprite':
    'C4Context\nPerson(a, "A", "x", $sprite="https://evil.invalid/a.png", $link="javascript:globalThis.pwned=1")',
  'a board with an address': `---\nconfig:\n  kanban:\n    ticketBaseUrl: 'javascript:globalThis.pwned=1//#TICKET#'\n---\nkanban\n  a[A]\n    b[B]@{ ticket: 1 }`,
  'a journey with a tag':
    'journey\ntitle <img src=x onerror=globalThis.pwned=1>\nsection S\nA: 5: <script>globalThis.pwned=1</script>',
  'a timeline with a tag':
    'timeline\ntitle <img src=x onerror=globalThis.pwned=1>\n2026 : <script>globalThis.pwned=1</script>',
  'a block with a tag': 'block-beta\ncolumns 1\na["<img src=x onerror=globalThis.pwned=1>"]',
  'a bar with a tag': 'xychart-beta\ntitle "<img src=x onerror=globalThis.pwned=1>"\nx-axis [a, b]\nbar [1, 2]',
  'a bar without a size': 'xychart-beta\nx-axis 0 --> 1e300\ny-axis 0 --> 1e300\nbar [1e300, -1e300]',
  'characters that turn text': `${FLOW}A["a \u202e b \u2066 c \u200b"]-->B["#8238; x #8; y #0;"]`,
  'half of a character': `${FLOW}A["\ud800 x"]-->B`,
  'too many edges': `${FLOW}${many(600, (n) => `a${n}-->b${n}`)}`,
  'many nodes': `${FLOW}${many(300, (n) => `a${n}-->a${n + 1}`)}`,
  'each with each': `${FLOW}${many(20, (n) => many(20, (m) => `a${n}-->a${m}`))}`,
  'deep nesting': `${FLOW}${many(150, (n) => `subgraph s${n}`)}\nA-->B\n${many(150, () => 'end')}`,
  'deep brackets': `${FLOW}A${'('.repeat(2_000)}x${')'.repeat(2_000)}`,
  'a long label': `${FLOW}A["${'x'.repeat(4_000)}"]`,
  'many words': `${FLOW}A["${'word '.repeat(8_000)}"]`,
  'too long a text': `${FLOW}${'%% x\n'.repeat(20_000)}A-->B`,
  'a loop of an expression': `${FLOW}A["${'a'.repeat(30_000)}!`,
  'many states in a state': `stateDiagram-v2\n${many(40, (n) => `state s${n} {`)}\n[*] --> x\n${'}\n'.repeat(40)}`,
  'a cycle of groups': `${FLOW}subgraph A\nB\nend\nsubgraph B\nA\nend`,
  'a node of its own group': `${FLOW}subgraph A\nA-->A\nend`,
  'names of a prototype': `${FLOW}__proto__-->constructor-->toString-->hasOwnProperty`,
  'an element of the page': `${FLOW}root-->frame-->texts-->document-->d1`,
  nothing: '',
  'only a directive': '%%{init: {}}%%',
  'no diagram': 'graph of nothing\0',
};
