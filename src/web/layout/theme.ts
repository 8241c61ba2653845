/**
 * Derives a readable light and dark theme from any colour: contrast of at least 4.5 to 1 with the background
 * (WCAG 2.2, 1.4.3). Pure.
 */

type Colour = readonly [red: number, green: number, blue: number];

const CONTRAST_MIN = 4.8;
/** The background colours in `style/base.css`: in each scheme the one with less contrast. */
const LIGHT_BACKGROUND: Colour = [0xf6, 0xf4, 0xee];
const DARK_BACKGROUND: Colour = [0x25, 0x2a, 0x33];
const BLACK: Colour = [0, 0, 0];
const WHITE: Colour = [255, 255, 255];
const INK: Colour = [0x10, 0x14, 0x1a];

/** The style sheet of a colour given as `#rrggbb`. */
export function themeStyle(accent: string): string {
  const colour = readColour(accent);
  const light = readableOn(LIGHT_BACKGROUND, colour, -0.02);
  const dark = readableOn(DARK_BACKGROUND, colour, 0.02);
  const pair = (one: Colour, other: Colour): string =>
    `light-dark(${writeColour(one)},${writeColour(other)})`;
  return `:root{--accent:${pair(light, dark)};--on-accent:${pair(inkOn(light), inkOn(dark))}}\n`;
}

/** The contrast of two colours given as `#rrggbb`, from 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: string, other: string): number {
  return contrastOf(readColour(one), readColour(other));
}

/** Black or white, whichever is easier to read on a colour given as `#rrggbb`: at least 4.5 to 1 on every colour. */
export function textOn(colour: string): string {
  const [on_black, on_white] = [contrast(colour, "#000000"), contrast(colour, "#ffffff")];
  return on_black > on_white ? "#000000" : "#ffffff";
}

/** The colour with the nearest lightness that has enough contrast with the background. */
function readableOn(background: Colour, colour: Colour, lightness_step: number): Colour {
  const [hue, saturation, lightness] = toHsl(colour);
  for (let changed = lightness; changed >= 0 && changed <= 1; changed += lightness_step) {
    const tone = changed === lightness ? colour : fromHsl(hue, saturation, changed);
    if (contrastOf(background, tone) >= CONTRAST_MIN) return tone;
  }
  return lightness_step < 0 ? BLACK : WHITE;
}

function inkOn(colour: Colour): Colour {
  return contrastOf(colour, WHITE) >= contrastOf(colour, INK) ? WHITE : INK;
}

/** Hue from 0 to 6, saturation and lightness from 0 to 1 (CSS Color 4, section 7). */
function toHsl([red, green, blue]: Colour): readonly [number, number, number] {
  const [r, g, b] = [red / 255, green / 255, blue / 255];
  const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)];
  const [range, lightness] = [most - least, (most + least) / 2];
  if (range === 0) return [0, 0, lightness];
  const hue =
    most === r
      ? (g - b) / range + (g < b ? 6 : 0)
      : most === g
        ? (b - r) / range + 2
        : (r - g) / range + 4;
  return [hue, range / (1 - Math.abs(2 * lightness - 1)), lightness];
}

function fromHsl(hue: number, saturation: number, lightness: number): Colour {
  const amplitude = saturation * Math.min(lightness, 1 - lightness);
  const at = (offset: number): number => {
    const k = (offset + hue * 2) % 12;
    return Math.round(255 * (lightness - amplitude * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [at(0), at(8), at(4)];
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
