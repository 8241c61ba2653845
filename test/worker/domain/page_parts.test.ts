import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvRow } from "../../../src/domain/csv.ts";
import { previewOf, titleOf } from "../../../src/web/account/job_metadata.ts";
import { DaysChart } from "../../../src/web/chart/days.tsx";
import { axisFor, columnsOf, stepArea, stepPath, y } from "../../../src/web/chart/scale.ts";
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

/** The markup of a chart of days. */
function drawn(of: Pick<Parameters<typeof DaysChart>[0], "total" | "values" | "days">): string {
  // oxlint-disable-next-line typescript/no-base-to-string -- an element of Hono's JSX is its markup as text
  return String(DaysChart({ id: "x", name: "Spent", unit: "", ...of }));
}

/** The heights of the columns of a chart of days, in a plot of 60. */
function heightsOf(values: readonly number[]): number[] {
  const days = values.map((_, day) => `day ${day}`);
  const chart = drawn({ total: 0, values, days });
  return [...chart.matchAll(/M\d+\.5 60V([\d.]+)/g)].map(([, top]) => 60 - Number(top));
}

describe("a chart of days", () => {
  const ORDINARY = [30, 61, 94, 47];

  it.each([150, 200, 730, 5_000, 200_000])(
    "a burst of %i is drawn as many times as high as it is large",
    (burst) => {
      const heights = heightsOf([...ORDINARY, burst]);
      expect(heights.at(-1)).toBe(60);
      for (const [at, value] of ORDINARY.entries()) {
        // A column is visible, however small.
        expect(heights[at]).toBeCloseTo(Math.max(1, (value / burst) * 60), 0);
      }
    },
  );

  it("a larger value has a higher column, and the largest is marked with its own number", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1 }), (values) => {
        const heights = heightsOf(values);
        for (const [at, value] of values.entries()) {
          const higher = values.map((other, index) => [other, heights[index] ?? 0] as const);
          const lowest = higher.filter(([other]) => other > value).map(([, height]) => height);
          expect(Math.min(60, ...lowest)).toBeGreaterThanOrEqual(heights[at] ?? 0);
        }
      }),
    );
    const days = ["Mon", "Tue", "Wed", "Thu"];
    const values = [94, 731, 30, 2];
    const chart = drawn({ total: 857, values, days });
    expect(chart).toMatch(/<text x="37\.5%"[^>]*>731<\/text>/);
    expect(chart).not.toContain("732");
  });
});

describe("the scale of a chart", () => {
  it("the place of a balance is in proportion to its value, above and below zero", () => {
    const axis = axisFor([100, 94, -50, 10_081], 3);
    const at = (value: number): number => y(value, { axis, height: 1_000 });
    expect((at(0) - at(10_000)) / (at(0) - at(1_000))).toBeCloseTo(10, 1);
    expect(at(-1_000) - at(0)).toBeCloseTo(at(0) - at(1_000), 0);
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
  const axis = { low: -10, high: 10 };
  const frame = { from: 0, to: 10, axis, width: 100, height: 20 };
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

  it("a job shows an https picture, and is named by its description, or by its action", () => {
    const name = (metadata: object): string =>
      titleOf({ action: "draw", metadata_json: JSON.stringify(metadata) });
    expect(previewOf({ previewUrl: "https://a.test/x y.png" })).toBe("https://a.test/x%20y.png");
    expect(name({ description: "  A cat " })).toBe("A cat");
    expect(name({ description: "x".repeat(500) })).toHaveLength(160);
    for (const description of ["", "  ", 7, null, undefined]) {
      expect(name({ description })).toBe("draw");
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
