// Replaces nodes by newly drawn ones, but keeps equal old nodes. The browser only lays out what
// changed, selections survive, and streaming text does not create garbage in each frame.

/** Elements without listeners. */
const PLAIN: ReadonlySet<string> = new Set(
  'P H3 H4 H5 H6 UL OL LI BLOCKQUOTE TR TH TD STRONG EM DEL CODE SPAN B I INS KBD MARK S SMALL SUB SUP U'.split(' '),
);

/**
 * Replaces nodes by newly drawn ones that follow them. Matching old nodes are kept and updated.
 * @returns the kept old node for each discarded new node
 */
export function patchNodes(old: readonly ChildNode[], fresh: readonly ChildNode[]): ReadonlyMap<Node, ChildNode> {
  const replacements = new Map<Node, ChildNode>();
  for (const node of old) {
    const wanted = fresh[replacements.size];
    if (!wanted) break;
    // It was removed with its parent.
    const isSettled = wanted.parentNode === null;
    if (!isSettled && (wanted.parentNode !== node.parentNode || !updateToMatch(node, wanted))) break;
    wanted.remove();
    replacements.set(wanted, node);
  }
  for (const node of old.slice(replacements.size)) node.remove();
  return replacements;
}

/**
 * Updates a node to match another one.
 * @returns false, without changes, if that is impossible
 */
function updateToMatch(node: ChildNode, wanted: ChildNode): boolean {
  if (node instanceof Text && wanted instanceof Text) {
    if (wanted.data.startsWith(node.data)) {
      if (wanted.length > node.length) node.appendData(wanted.data.slice(node.length));
    } else node.data = wanted.data;
    return true;
  }
  if (!(node instanceof HTMLElement && wanted instanceof HTMLElement) || node.tagName !== wanted.tagName) return false;
  if (node.dataset.formula) return node.dataset.formula === wanted.dataset.formula;
  if (node.matches('.code-block:not([data-code])')) return codeOf(node) === codeOf(wanted);
  if (node.tagName === 'A') return node.isEqualNode(wanted);
  if (!PLAIN.has(node.tagName) || !sameAttributes(node, wanted)) return false;
  const old = [...node.childNodes];
  const fresh = [...wanted.childNodes];
  node.append(...fresh);
  patchNodes(old, fresh);
  return true;
}

function codeOf(block: Element): string {
  return [...block.querySelectorAll('.lang, .link, pre')].map((part) => part.textContent).join('\n');
}

function sameAttributes(a: Element, b: Element): boolean {
  const names = a.getAttributeNames();
  return (
    names.length === b.getAttributeNames().length &&
    names.every((name) => a.getAttribute(name) === b.getAttribute(name))
  );
}
