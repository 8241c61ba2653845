import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvRow } from "../../../src/http/csv.ts";
import { descriptionOf, previewOf } from "../../../src/web/account/job_metadata.ts";
import {
  axesFor,
  axisFor,
  columnsOf,
  stepArea,
  stepPath,
  y,
} from "../../../src/web/chart/scale.ts";
import { contrast, textOn, themeStyle } from "../../../src/web/layout/theme.ts";
import { nameFromSlug, number, signed } from "../../../src/web/layout/labels.ts";

describe("an axis", () => {
  it.each([
    [[], [0, 1]],
    [
      [0, 7],
      [0, 5, 10],
    ],
    [[300], [0, 100, 200, 300]],
    [
      [-40, 95],
      [-50, 0, 50, 100],
    ],
    [[-3], [-3, -2, -1, 0]],
    [[1_234_567], [0, 500_000, 1_000_000, 1_500_000]],
  ])("an axis over %j has the ticks %j", (values, ticks) => {
    expect(axisFor(values, 3).ticks).toEqual(ticks);
  });

  it("an axis covers every value with few even ticks", () => {
    for (let low = -1_000; low <= 0; low += 77) {
      for (let high = 0; high < 100_000; high = high * 3 + 1) {
        const { ticks, ...axis } = axisFor([low, high], 3);
        expect(ticks.length).toBeLessThanOrEqual(4);
        expect(axis.low).toBeLessThanOrEqual(low);
        expect(axis.high).toBeGreaterThanOrEqual(high);
        expect(ticks.at(0)).toBe(axis.low);
        expect(ticks.at(-1)).toBe(axis.high);
      }
    }
  });
});

describe("the axes of a chart", () => {
  it("one large purchase does not flatten the small changes before it", () => {
    const values = [100, 94, 81, 10_081, 10_040];
    const axes = axesFor(values, 3);
    expect(axes.map(({ low, high }) => [low, high])).toEqual([
      [0, 100],
      [10_000, 10_100],
    ]);
    const at = (value: number): number => y(value, { axes, height: 100 });
    expect(at(81) - at(100)).toBeGreaterThan(5);
    expect(at(10_040) - at(10_081)).toBeGreaterThan(5);
    expect(at(10_040)).toBeLessThan(at(100));
  });

  it.each([[[]], [[0]], [[100]], [[0, 5_000]], [[100, 94, 88]], [[-40, 95]], [[1, 5, 9, 14]]])(
    "the values %j have one axis",
    (values) => {
      expect(axesFor(values, 3)).toEqual([axisFor(values, 3)]);
    },
  );

  it("axes cover every value, do not overlap, and keep the order of values", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -500, max: 1_000_000 }), { maxLength: 9 }),
        (values) => {
          const axes = axesFor(values, 3);
          for (const value of values) {
            expect(axes.some(({ low, high }) => value >= low && value <= high)).toBe(true);
          }
          const [lower, upper] = axes;
          if (upper !== undefined) expect(upper.low).toBeGreaterThan(lower?.high ?? 0);
          const tops = values
            .toSorted((one, other) => one - other)
            .map((value) => y(value, { axes, height: 100 }));
          expect(tops).toEqual(tops.toSorted((one, other) => other - one));
        },
      ),
    );
  });

  it("a column shows the last value up to its end", () => {
    const points = [
      { at: 3, value: 5 },
      { at: 4, value: 7 },
      { at: 9, value: 1 },
    ];
    // Nothing is known of the time before the first point.
    expect(columnsOf(points, { from: 0, to: 10 }, 5).map(({ value }) => value)).toEqual([
      null,
      7,
      7,
      7,
      1,
    ]);
  });
});

describe("a line of steps", () => {
  const axes = [{ low: -10, high: 10, ticks: [] }];
  const frame = { from: 0, to: 10, axes, width: 100, height: 20 };
  const points = [
    { at: 0, value: 10 },
    { at: 5, value: -10 },
  ];

  it("a step line holds each value until the next one, to the end", () => {
    expect(stepPath(points, frame)).toBe("M0 0H50V20H100");
    expect(stepPath([], frame)).toBe("");
  });

  it("the area of a step line lies between the line and zero", () => {
    expect(stepArea(points, frame)).toBe("M0 0H50V20H100V10H0Z");
  });
});

describe("a theme", () => {
  it("text is readable in light and dark with any theme colour", () => {
    const colours = ["#000000", "#ffffff", "#ffee00", "#12507b", "#ff0000", "#00ff88", "#7f7f7f"];
    for (const colour of colours) {
      const found = themeStyle(colour).match(/#[0-9a-f]{6}/g) ?? [];
      const [light = "", dark = "", on_light = "", on_dark = ""] = found;
      for (const paper of ["#ffffff", "#f6f4ee"]) {
        expect(contrast(light, paper), colour).toBeGreaterThanOrEqual(4.5);
      }
      for (const paper of ["#14171c", "#1c2027", "#252a33"]) {
        expect(contrast(dark, paper), colour).toBeGreaterThanOrEqual(4.5);
      }
      expect(contrast(on_light, light), colour).toBeGreaterThanOrEqual(4.5);
      expect(contrast(on_dark, dark), colour).toBeGreaterThanOrEqual(4.5);
    }
  });

  it("the letter on an app's colour is readable, whatever the colour", () => {
    for (let value = 0; value < 0x1000000; value += 0x1357) {
      const colour = `#${value.toString(16).padStart(6, "0")}`;
      expect(contrast(textOn(colour), colour), colour).toBeGreaterThanOrEqual(4.5);
    }
  });

  it("a readable theme colour is not changed", () => {
    expect(themeStyle("#12507b")).toContain("light-dark(#12507b,");
  });
});

describe("a CSV row", () => {
  it("a CSV row keeps numbers and quotes text", () => {
    expect(csvRow([1, -7, 'say "hi", you', null])).toBe('1,-7,"say ""hi"", you",\r\n');
  });

  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1"])(
    "a CSV field never starts a formula: %j",
    (text) => expect(csvRow([text])).toBe(`"'${text}"\r\n`),
  );
});

describe("a job's metadata", () => {
  it.each([
    "http://a.test/x.png",
    "javascript:alert(1)",
    "data:image/png;base64,AAAA",
    "//a.test/x.png",
    "https://ada:secret@a.test/x.png",
    `https://a.test/${"x".repeat(2_048)}`,
    "",
    7,
    null,
    { href: "https://a.test" },
  ])("a job with the preview URL %j has no picture", (previewUrl) =>
    expect(previewOf({ previewUrl })).toBeNull(),
  );

  it("a job shows an https picture and a description that is not empty", () => {
    expect(previewOf({ previewUrl: "https://a.test/x y.png" })).toBe("https://a.test/x%20y.png");
    expect(descriptionOf({ description: "  A cat " })).toBe("A cat");
    expect(descriptionOf({ description: "x".repeat(500) })).toHaveLength(160);
    for (const description of ["", "  ", 7, null, undefined]) {
      expect(descriptionOf({ description })).toBeNull();
    }
  });
});

describe("numbers and names", () => {
  it("numbers and names are formatted for people", () => {
    expect(number(-1_234_567)).toBe("\u22121,234,567");
    expect(signed(5)).toBe("+5");
    expect(signed(0)).toBe("0");
    expect(nameFromSlug("pro-plus")).toBe("Pro plus");
    expect(nameFromSlug("free")).toBe("Free");
    expect(nameFromSlug("...")).toBe("...");
  });
});
