// Brings what is drawn to what was drawn anew, and keeps the nodes that are still right: the browser then lays out what changed and not the whole, a selection stays, and
// a text that grows sixty times a second does not leave sixty copies of itself behind.

/** They are what their tag, their attributes and their children say; nobody listens to them. */
const PLAIN: ReadonlySet<string> = new Set(
  'P H3 H4 H5 H6 UL OL LI BLOCKQUOTE TR TH TD STRONG EM DEL CODE SPAN'.split(' '),
);

/**
 * Lets nodes that were drawn anew take the place of `old` ones, which stand before them. As far as both are alike from the beginning on, the old ones stay and take over what the
 * fresh ones say; the other old ones go.
 * @returns by fresh node that went: the old one in its place
 */
export function graft(old: readonly ChildNode[], fresh: readonly ChildNode[]): ReadonlyMap<Node, ChildNode> {
  const kept = new Map<Node, ChildNode>();
  for (const node of old) {
    const wanted = fresh[kept.size];
    if (!wanted) break;
    // What stands nowhere went with what it stood in.
    const isSettled = wanted.parentNode === null;
    if (!isSettled && (wanted.parentNode !== node.parentNode || !becomes(node, wanted))) break;
    wanted.remove();
    kept.set(wanted, node);
  }
  for (const node of old.slice(kept.size)) node.remove();
  return kept;
}

/** Makes a node the same as another one. @returns false where it cannot be: nothing was changed then */
function becomes(node: ChildNode, wanted: ChildNode): boolean {
  if (node instanceof Text && wanted instanceof Text) {
    if (wanted.data.startsWith(node.data)) {
      if (wanted.length > node.length) node.appendData(wanted.data.slice(node.length));
    } else node.data = wanted.data;
    return true;
  }
  if (!(node instanceof HTMLElement && wanted instanceof HTMLElement) || node.tagName !== wanted.tagName) return false;
  // What a link opens is what it says that it opens.
  if (node.tagName === 'A') return node.isEqualNode(wanted);
  if (!PLAIN.has(node.tagName) || !sameAttributes(node, wanted)) return false;
  const old = [...node.childNodes];
  const fresh = [...wanted.childNodes];
  node.append(...fresh);
  graft(old, fresh);
  return true;
}

function sameAttributes(one: Element, other: Element): boolean {
  const names = one.getAttributeNames();
  return (
    names.length === other.getAttributeNames().length &&
    names.every((name) => one.getAttribute(name) === other.getAttribute(name))
  );
}
