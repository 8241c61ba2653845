/**
 * One colour made into a theme that can be read in light and dark, whatever the colour is: contrast of
 * at least 4.5 to 1 with the paper (WCAG 2.2, 1.4.3). Pure.
 */

type Colour = readonly [red: number, green: number, blue: number];

const CONTRAST_MIN = 4.6;
/** Paper as in `passbook.css`, the less contrasting shade of each scheme. */
const LIGHT_PAPER: Colour = [0xf6, 0xf4, 0xee];
const DARK_PAPER: Colour = [0x20, 0x24, 0x2c];
const BLACK: Colour = [0, 0, 0];
const WHITE: Colour = [255, 255, 255];
const INK: Colour = [0x10, 0x14, 0x1a];

/** The style sheet of a colour given as `#rrggbb`. */
export function themeStyle(accent: string): string {
  const colour = readColour(accent);
  const light = readableOn(LIGHT_PAPER, colour, BLACK);
  const dark = readableOn(DARK_PAPER, colour, WHITE);
  const pair = (one: Colour, other: Colour): string =>
    `light-dark(${writeColour(one)},${writeColour(other)})`;
  return `:root{--accent:${pair(light, dark)};--on-accent:${pair(textOn(light), textOn(dark))}}\n`;
}

/** The contrast of two colours given as `#rrggbb`, from 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: string, other: string): number {
  return contrastOf(readColour(one), readColour(other));
}

/** The colour, moved towards black or white until it can be read on the paper. */
function readableOn(paper: Colour, colour: Colour, towards: Colour): Colour {
  for (let part = 0; part < 1; part += 0.04) {
    const mixed = mix(colour, towards, part);
    if (contrastOf(paper, mixed) >= CONTRAST_MIN) return mixed;
  }
  return towards;
}

function textOn(colour: Colour): Colour {
  return contrastOf(colour, WHITE) >= contrastOf(colour, INK) ? WHITE : INK;
}

function mix(one: Colour, other: Colour, part: number): Colour {
  const at = (index: 0 | 1 | 2): number =>
    Math.round(one[index] * (1 - part) + other[index] * part);
  return [at(0), at(1), at(2)];
}

function contrastOf(one: Colour, other: Colour): number {
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

function luminance([red, green, blue]: Colour): number {
  const linear = (value: number): number => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function readColour(text: string): Colour {
  const value = Number.parseInt(text.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function writeColour([red, green, blue]: Colour): string {
  return `#${((red << 16) | (green << 8) | blue).toString(16).padStart(6, "0")}`;
}
