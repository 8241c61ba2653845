import { describe, expect, it } from "vitest";
import { locationName, locationOf, programOf } from "../../../src/domain/client_description.ts";

const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";
const MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)";
const IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15";

describe("the program of a User-Agent", () => {
  it.each([
    ["Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0", "Firefox on Linux"],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/139.0.0.0 Safari/537.36`,
      "Chrome on Windows",
    ],
    [`${MAC} ${WEBKIT} Chrome/139.0.0.0 Safari/537.36 Edg/139.0.0.0`, "Microsoft Edge on macOS"],
    [`${MAC} ${WEBKIT} Chrome/139.0.0.0 Safari/537.36 OPR/121.0.0.0`, "Opera on macOS"],
    [
      `${MAC} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15`,
      "Safari on macOS",
    ],
    [`${IPHONE} (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1`, "Safari on iOS"],
    [`${IPHONE} (KHTML, like Gecko) CriOS/139.0 Mobile/15E148 Safari/604.1`, "Chrome on iOS"],
    [`${IPHONE} (KHTML, like Gecko) FxiOS/142.0 Mobile/15E148 Safari/605.1.15`, "Firefox on iOS"],
    [
      `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/139.0.0.0 Mobile Safari/537.36`,
      "Chrome on Android",
    ],
    [
      `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
      "Samsung Internet on Android",
    ],
    [
      `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/139.0.0.0 Safari/537.36`,
      "Chrome on ChromeOS",
    ],
    [
      `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/147.0.0.0 Safari/537.36`,
      "Chrome on Linux",
    ],
    ["curl/8.15.0", "curl"],
    ["node", "Node.js"],
    ["Mozilla/5.0 (Windows NT 10.0)", "Windows"],
  ])("a User-Agent is described as %s", (user_agent, words) => {
    expect(programOf(user_agent)).toBe(words);
  });

  it.each(["", "Mozilla/5.0", "<script>alert(1)</script>", "My own thing 1.0 for ada@example.com"])(
    "the User-Agent %j gives no description",
    (user_agent) => {
      expect(programOf(user_agent)).toBeNull();
    },
  );
});

describe("the location of a request", () => {
  it("a request's location is the one the platform gives, and unknown without it", () => {
    expect(locationOf({ cf: { city: "Lisbon", country: "PT" } })).toEqual({
      city: "Lisbon",
      country: "PT",
    });
    const nowhere = { city: null, country: null };
    expect(locationOf({ cf: { city: 5, country: "XX" } })).toEqual(nowhere);
    expect(locationOf({})).toEqual(nowhere);
    expect(locationOf({ cf: { city: "x".repeat(1_000) } }).city).toHaveLength(100);
  });
});

describe("the name of a location", () => {
  it.each([
    ["Lisbon", "PT", "Lisbon, Portugal"],
    [null, "PT", "Portugal"],
    ["Lisbon", null, "Lisbon"],
    [null, "T1", "the Tor network"],
    [null, "ZZZZ", "ZZZZ"],
    [null, null, null],
  ])("the city %s in the country %s is called %s", (city, country, name) => {
    expect(locationName({ city, country })).toBe(name);
  });

  it("a location has a German name for German readers", () => {
    expect(locationName({ city: "Graz", country: "AT" }, "de")).toBe("Graz, Österreich");
    expect(locationName({ city: null, country: "T1" }, "de")).toBe("das Tor-Netz");
  });

  it("an empty text is not a city", () => {
    expect(locationOf({ cf: { city: "", country: "" } })).toEqual({ city: null, country: null });
  });
});
