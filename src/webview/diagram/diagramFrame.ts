// Draws diagrams with Mermaid in a frame without access to anything (frameTemplate in
// src/base/pagePolicy.ts). The page gets the result as an inert image: no scripts, links or
// requests.
import type { FromFrame, ToFrame } from '../../panel/diagramContract';

interface Mermaid {
  initialize(config: unknown): void;
  render(id: string, source: string): Promise<{ readonly svg: string }>;
}

declare const mermaid: Mermaid;

/** Keys that a diagram must not set, as they are not about this diagram only. */
const SECURE = [
  'secure',
  'securityLevel',
  'startOnLoad',
  'maxTextSize',
  'maxEdges',
  'suppressErrorRendering',
  'htmlLabels',
  'dompurifyConfig',
  'theme',
  'themeVariables',
  'themeCSS',
  'darkMode',
  'fontFamily',
  'altFontFamily',
  'useMaxWidth',
  'logLevel',
];

/** Elements that show, open or fetch other content. */
const FOREIGN =
  'script, foreignObject, iframe, image, img, audio, video, animate, set, animateMotion, animateTransform';
/** As browsers serialize it in styles. */
const ADDRESS = /url\((?!["']?#)[^)]*\)/g;
/** Characters that XML forbids, and bidirectional controls. */
const UNWANTED = /[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[\u202a-\u202e\u2066-\u2069]/gu;

const { nonce } = document.currentScript as HTMLScriptElement;
// The content security policy allows style elements only with the nonce.
const { createElement, createElementNS } = document;
const withNonce = <T extends Element>(element: T): T => {
  if (element instanceof HTMLStyleElement || element instanceof SVGStyleElement) element.nonce = nonce;
  return element;
};
document.createElement = ((...given: Parameters<typeof createElement>) =>
  withNonce(createElement.apply(document, given))) as typeof createElement;
document.createElementNS = ((...given: Parameters<typeof createElementNS>) =>
  withNonce(createElementNS.apply(document, given))) as typeof createElementNS;
// Mermaid creates HTML from strings, which is only allowed in this frame. Its sanitizer needs a
// policy.
const { trustedTypes } = globalThis as unknown as {
  trustedTypes?: { createPolicy(name: string, rules: Record<string, (text: string) => string>): unknown };
};
const policy = trustedTypes?.createPolicy('default', {
  createHTML: (text) => text.replaceAll(/<style(?=[\s>])/gi, `<style nonce="${nonce}"`),
  createScript: (text) => text,
});
if (trustedTypes) trustedTypes.createPolicy = () => policy;

window.addEventListener('message', ({ data, source }: MessageEvent<ToFrame>) => {
  if (source !== window.parent) return;
  const answer = (message: FromFrame): void => window.parent.postMessage(message, '*');
  const { id } = data;
  draw(data).then(
    (drawn) => answer({ id, ...drawn }),
    (error: unknown) => answer({ id, error: String(error instanceof Error ? error.message : error).slice(0, 2_000) }),
  );
});

async function draw({ id, source, library, background, fontFamily, theme }: ToFrame) {
  if (library !== undefined) {
    const script = document.createElement('script');
    script.nonce = nonce;
    script.textContent = library;
    document.head.append(script);
  }
  // Text measures 0 until the frame has its size, which the parent's process knows first.
  while (document.documentElement.clientWidth === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  document.body.replaceChildren();
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    suppressErrorRendering: true,
    secure: SECURE,
    deterministicIds: true,
    theme: 'base',
    themeVariables: { ...theme, background, fontFamily },
    fontFamily,
  });
  const { svg } = await mermaid.render(`d${id}`, source);
  const picture = document.adoptNode(new DOMParser().parseFromString(svg, 'text/html').querySelector('svg')!);
  for (const old of picture.querySelectorAll('style')) {
    const style = document.createElement('style');
    style.textContent = old.textContent;
    old.replaceWith(style);
  }
  document.body.append(picture);
  const { width, height } = sizeOf(picture);
  const label = [...picture.querySelectorAll(':scope > title, :scope > desc')]
    .map((node) => node.textContent)
    .join('. ');
  makeInert(picture);
  picture.setAttribute('width', String(width));
  picture.setAttribute('height', String(height));
  picture.style.maxWidth = '';
  picture.style.background = background;
  return { svg: new XMLSerializer().serializeToString(picture).replace(UNWANTED, ''), width, height, label };
}

function sizeOf(picture: SVGSVGElement): { readonly width: number; readonly height: number } {
  const { width, height } = picture.viewBox.baseVal;
  return width > 0 && height > 0 ? { width, height } : picture.getBoundingClientRect();
}

/** Mermaid sanitizes too, but later versions may miss something. */
function makeInert(picture: SVGSVGElement): void {
  for (const style of picture.querySelectorAll('style')) {
    // As parsed by the browser, without escapes.
    const rules = [...(style.sheet?.cssRules ?? [])].filter((rule) => !(rule instanceof CSSImportRule));
    style.textContent = rules.map(({ cssText }) => cssText.replace(ADDRESS, 'none')).join('\n');
  }
  for (const foreign of picture.querySelectorAll(FOREIGN)) foreign.remove();
  for (const link of picture.querySelectorAll('a')) link.replaceWith(...link.childNodes);
  for (const element of [picture, ...picture.querySelectorAll<SVGElement>('*')]) {
    for (const { name, value } of [...element.attributes]) {
      const isAddress = /(?:^|:)(?:href|src)$/i.test(name) && !value.startsWith('#');
      if (/^on|^nonce$/i.test(name) || isAddress) element.removeAttribute(name);
    }
    const { cssText = '' } = element.style ?? {};
    const inert = cssText.replace(ADDRESS, 'none');
    if (inert !== cssText) element.style.cssText = inert;
  }
}
