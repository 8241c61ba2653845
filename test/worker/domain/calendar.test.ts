import { describe, expect, it } from "vitest";
import {
  beginningOf,
  END_OF_IDS,
  firstIdOf,
  minuteOf,
  readMonth,
  timeOfId,
  utcDayOf,
} from "../../../src/domain/calendar.ts";

const DAY_MS = 24 * 60 * 60_000;

describe("days and ids", () => {
  it("a day begins at midnight UTC, also before the epoch", () => {
    expect([0, DAY_MS - 1, DAY_MS, -1].map(utcDayOf)).toEqual([0, 0, 1, -1]);
  });

  it("a minute is counted from midnight UTC", () => {
    const at = [0, 59_999, 60_000, DAY_MS - 1, DAY_MS, 100 * DAY_MS + 90 * 60_000];
    expect(at.map(minuteOf)).toEqual([0, 0, 1, 1_439, 0, 90]);
  });

  it("the lowest id of a time begins with the time, and no time is before the epoch", () => {
    expect(firstIdOf(0x0123_4567_89ab)).toBe("01234567-89ab");
    expect(firstIdOf(0)).toBe("00000000-0000");
    expect(firstIdOf(-5)).toBe("00000000-0000");
    expect(firstIdOf(0x1ffff)).toBe("00000001-ffff");
  });

  it("the time of an id is that of a UUIDv7, and another UUID has none", () => {
    expect(timeOfId("01234567-89ab-7def-8123-456789abcdef")).toBe(0x0123_4567_89ab);
    expect(timeOfId("fedcba98-7654-7000-8000-000000000000")).toBe(0xfedc_ba98_7654);
    expect(timeOfId("01234567-89ab-4def-8123-456789abcdef")).toBeNull();
    expect(timeOfId("01234567-89a7-4777-8123-456789abcdef")).toBeNull();
  });

  it("an id begins with its time, whole or not, and the end of all ids has none", () => {
    expect(beginningOf("01234567-89ab-7def-8123-456789abcdef")).toBe(0x0123_4567_89ab);
    expect(beginningOf(firstIdOf(0x0123_4567_89ab))).toBe(0x0123_4567_89ab);
    expect([beginningOf(END_OF_IDS), beginningOf("")]).toEqual([null, null]);
  });

  it("the first month of a year is read", () => {
    expect(readMonth("2026-01")).toMatchObject({ from_ms: Date.UTC(2026, 0, 1) });
  });
});
