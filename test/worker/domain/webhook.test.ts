import { describe, expect, it } from "vitest";
import {
  SUBSCRIBABLE_EVENTS,
  thresholdsProblem,
  webhookEventsProblem,
  webhookUrlProblem,
} from "../../../src/domain/webhook.ts";

describe("the address of a webhook", () => {
  it.each([
    "https://example.com",
    "https://hooks.example.com/passbook?tenant=1",
    "https://example.com:443/",
    "https://xn--bcher-kva.com/",
    "https://example.com./",
  ])("the address %s is accepted everywhere", (url) => {
    expect(webhookUrlProblem(url, false)).toBeNull();
    expect(webhookUrlProblem(url, true)).toBeNull();
  });

  it.each([
    ["http://localhost:3000/hook"],
    ["http://app.localhost/hook"],
    ["http://127.0.0.1:8080/"],
    ["http://[::1]:8080/"],
    ["https://127.0.0.1/"],
    ["https://receiver:8443/"],
    ["https://example.com:8443/"],
  ])("the address %s is accepted in development only", (url) => {
    expect(webhookUrlProblem(url, true)).toBeNull();
    expect(webhookUrlProblem(url, false)).not.toBeNull();
  });

  it.each([
    ["without a scheme", "example.com/hook"],
    ["with http to another machine", "http://example.com/"],
    ["with another scheme", "ftp://example.com/"],
    ["with a custom scheme", "myapp://localhost/"],
    ["with a user name", "https://ada@example.com/"],
    ["with a user name and a password", "https://ada:secret@example.com/"],
    ["with empty user info", "https://:@example.com/"],
    ["with a fragment", "https://example.com/#part"],
    ["with an IPv4 address", "https://192.0.2.1/"],
    ["with the metadata address of a cloud", "http://169.254.169.254/"],
    ["with a private IPv4 address", "https://10.0.0.1/"],
    ["with an IPv4 address in one number", "https://3221225985/"],
    ["with an IPv4 address in hexadecimal", "https://0xc0.0x0.0x2.0x1/"],
    ["with an IPv4 address and a dot at its end", "https://192.0.2.1./"],
    ["with an IPv6 address", "https://[2001:db8::1]/"],
    ["with an IPv4 address in IPv6", "https://[::ffff:127.0.0.1]/"],
    ["with a backslash", "https://example.com\\@localhost/"],
    ["with a line break", "https://example.com/\n"],
    ["that is too long", `https://example.com/${"a".repeat(2048)}`],
  ])("an address %s is refused everywhere", (_, url) => {
    expect(webhookUrlProblem(url, false)).not.toBeNull();
    expect(webhookUrlProblem(url, true)).not.toBeNull();
  });
});

describe("the events of a webhook", () => {
  it("a webhook subscribes to at least one event, and to each once", () => {
    expect(webhookEventsProblem(SUBSCRIBABLE_EVENTS)).toBeNull();
    expect(webhookEventsProblem([])).toContain("at least one of job.created, ");
    expect(webhookEventsProblem(["job.created", "job.created"])).toContain("once");
  });
});

describe("the thresholds of a webhook", () => {
  const LOW = ["credits.low"];

  it("a webhook may have up to ten thresholds", () => {
    const ten = Array.from({ length: 10 }, (_, index) => index + 1);
    expect(thresholdsProblem(ten, LOW)).toBeNull();
    expect(thresholdsProblem([...ten, 11], LOW)).toContain("at most 10");
  });

  it.each([
    ["zero", [0]],
    ["a negative number", [-5]],
    ["a fraction", [1.5]],
    ["a number that is too large to be exact", [2 ** 53]],
    ["a number twice", [5, 5]],
  ])("thresholds with %s are refused", (_, thresholds) => {
    expect(thresholdsProblem(thresholds, LOW)).not.toBeNull();
  });

  it("a webhook for credits.low without a threshold is refused, because it would never be called", () => {
    expect(thresholdsProblem([], LOW)).toContain("credits.low");
    expect(thresholdsProblem([], ["job.created"])).toBeNull();
  });
});
