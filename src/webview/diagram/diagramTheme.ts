// Maps the colours of VS Code's theme to variables of Mermaid's “base” theme.

const canvas = document.createElement('canvas');
canvas.width = canvas.height = 1;
const context = canvas.getContext('2d', { willReadFrequently: true })!;

/** Blends colours, lowest layer first; returns `#rrggbb`. */
function blend(...colors: readonly string[]): string {
  for (const color of colors) {
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
  }
  const [r = 0, g = 0, b = 0] = context.getImageData(0, 0, 1, 1).data;
  return `#${[r, g, b].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

export interface DiagramTheme {
  readonly background: string;
  readonly fontFamily: string;
  readonly theme: Readonly<Record<string, string | boolean>>;
}

export function diagramTheme(): DiagramTheme {
  const styles = getComputedStyle(document.body);
  const isDark = !/vscode-(?:light|high-contrast-light)/.test(document.body.className);
  const isContrast = document.body.className.includes('vscode-high-contrast');
  const of = (name: string, fallback: string): string => styles.getPropertyValue(`--vscode-${name}`) || fallback;
  const background = blend(of('editor-background', isDark ? '#1e1e1e' : '#ffffff'));
  const text = blend(background, of('editor-foreground', isDark ? '#d4d4d4' : '#000000'));
  const line = isContrast ? text : blend(background, of('descriptionForeground', text));
  const shade = (color: string, part: number): string =>
    blend(background, `color-mix(in srgb, ${color} ${part * 100}%, transparent)`);
  /** High contrast themes only use shades that carry meaning. */
  const shadeOf = (color: string, part = 0.22): string => (isContrast ? background : shade(color, part));
  const chart = (name: string): string => blend(background, of(`charts-${name}`, line));
  const colors = ['blue', 'green', 'purple', 'orange', 'yellow', 'red'].map(chart);
  const [blue = line, green = line, purple = line, orange = line, yellow = line, red = line] = colors;
  const border = isContrast ? blend(background, of('contrastBorder', text)) : blue;
  const shades = [blue, green, purple, orange, yellow, red].map((color) => shadeOf(color));
  const series = (name: string, values: readonly string[], from: number, to: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: to - from + 1 }, (_one, index) => [
        `${name}${from + index}`,
        values[index % values.length]!,
      ]),
    );
  return {
    background,
    fontFamily: styles.fontFamily,
    theme: {
      darkMode: isDark,
      useGradient: false,
      dropShadow: 'none',
      primaryColor: shadeOf(blue),
      primaryTextColor: text,
      primaryBorderColor: border,
      secondaryColor: shadeOf(green),
      secondaryTextColor: text,
      secondaryBorderColor: isContrast ? border : green,
      tertiaryColor: shadeOf(line, 0.1),
      tertiaryTextColor: text,
      tertiaryBorderColor: line,
      textColor: text,
      titleColor: text,
      lineColor: line,
      edgeLabelBackground: background,
      noteBkgColor: shadeOf(yellow),
      noteTextColor: text,
      noteBorderColor: isContrast ? border : yellow,
      errorBkgColor: shadeOf(red),
      errorTextColor: text,
      sectionBkgColor: shadeOf(line, 0.1),
      altSectionBkgColor: background,
      sectionBkgColor2: shadeOf(line, 0.1),
      taskBkgColor: shadeOf(blue, 0.35),
      taskBorderColor: border,
      taskTextColor: text,
      taskTextDarkColor: text,
      taskTextLightColor: text,
      taskTextOutsideColor: text,
      taskTextClickableColor: text,
      activeTaskBkgColor: shadeOf(purple, 0.35),
      activeTaskBorderColor: isContrast ? border : purple,
      doneTaskBkgColor: shadeOf(line, 0.2),
      doneTaskBorderColor: line,
      critBkgColor: shadeOf(red, 0.35),
      critBorderColor: isContrast ? border : red,
      gridColor: line,
      todayLineColor: red,
      pieTitleTextColor: text,
      pieSectionTextColor: text,
      pieLegendTextColor: text,
      pieStrokeColor: isContrast ? border : background,
      pieOuterStrokeColor: isContrast ? border : line,
      pieOpacity: '1',
      ...series(
        'pie',
        colors.map((color) => shade(color, 0.45)),
        1,
        12,
      ),
      ...series('cScale', shades, 0, 11),
      ...series('cScaleLabel', [text], 0, 11),
      ...series('fillType', shades, 0, 7),
      ...series('git', colors, 0, 7),
      ...series('gitBranchLabel', [background], 0, 7),
      commitLabelColor: text,
      commitLabelBackground: background,
      tagLabelColor: text,
      tagLabelBackground: shadeOf(line, 0.1),
      tagLabelBorder: line,
    },
  };
}

export function onThemeChange(changed: () => void): void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ['style'] });
  observer.observe(document.body, { attributeFilter: ['class'] });
}
