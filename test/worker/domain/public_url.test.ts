/** The one rule for addresses that the service calls although a stranger wrote them: icons, client documents, webhooks. */
import { describe, expect, it } from "vitest";
import { isClientDocumentUrl } from "../../../src/domain/client_document.ts";
import { isFetchable, isPublicHttpsUrl } from "../../../src/domain/public_url.ts";
import { webhookUrlProblem } from "../../../src/domain/webhook.ts";

it("an address of an app on this machine is not fetched, and a server is in development only", () => {
  expect(isFetchable("myapp://localhost/x", true)).toBe(false);
  expect(isFetchable("http://localhost/x", true)).toBe(true);
  expect(isFetchable("http://localhost/x", false)).toBe(false);
});

describe("an address outside development", () => {
  it.each([
    "example.com",
    "hooks.eu-1.example.co.uk",
    "my_hook.example.com",
    "xn--bcher-kva.com",
    "shop.xn--p1ai",
    "localhost.example.com",
    "127.0.0.1.nip.io",
    "1.2.3.4.com",
  ])("the public name %s is accepted", (host) => {
    const url = `https://${host}/path`;
    expect(isPublicHttpsUrl(url)).toBe(true);
    expect(isClientDocumentUrl(url, false)).toBe(true);
    expect(webhookUrlProblem(url, false)).toBeNull();
  });

  it.each([
    ["localhost"],
    ["LOCALHOST"],
    ["localhost."],
    ["localhost.."],
    ["app.localhost"],
    ["app.localhost.."],
    ["intranet"],
    ["intranet."],
    ["printer.local"],
    ["metadata.google.internal"],
    ["metadata.google.internal."],
    ["metadata.google.internal.."],
    ["router.lan"],
    ["nas.home.arpa"],
    ["1.0.0.127.in-addr.arpa"],
    ["service.test"],
    ["app.example"],
    ["hidden.onion"],
    ["example.com.."],
    ["a..com"],
    ["%6cocalhost"],
    ["ｌｏｃａｌｈｏｓｔ"],
    ["printer。local"],
  ])("the private name %s is refused by every rule", (host) => {
    const url = `https://${host}/path`;
    expect(isPublicHttpsUrl(url)).toBe(false);
    expect(isFetchable(url, false)).toBe(false);
    expect(isClientDocumentUrl(url, false)).toBe(false);
    expect(webhookUrlProblem(url, false)).toContain("public host name");
  });

  it.each([
    ["127.0.0.1"],
    ["127.0.0.1."],
    ["127.0.0.1.."],
    ["127.1"],
    ["2130706433"],
    ["017700000001"],
    ["0x7f.1"],
    ["0x7f000001"],
    ["0"],
    ["10.0.0.1"],
    ["169.254.169.254"],
    ["192.0.2.1"],
    ["１２７.0.0.1"],
    ["[::1]"],
    ["[::]"],
    ["[::ffff:127.0.0.1]"],
    ["[::ffff:a00:1]"],
    ["[fd00::1]"],
    ["[2001:db8::1]"],
  ])(
    "the IP address %s is refused by every rule, also in development unless it is loopback",
    (host) => {
      const url = `https://${host}/path`;
      expect(isPublicHttpsUrl(url)).toBe(false);
      expect(isFetchable(url, false)).toBe(false);
      expect(isClientDocumentUrl(url, false)).toBe(false);
      expect(webhookUrlProblem(url, false)).toContain("IP address");
      const { hostname } = new URL(url);
      const is_loopback = ["127.0.0.1", "[::1]"].includes(hostname);
      expect(webhookUrlProblem(url, true) === null).toBe(is_loopback);
      expect(isFetchable(`http://${host}/path`, true)).toBe(is_loopback);
    },
  );

  it("only the default port of https is accepted", () => {
    for (const url of [
      "https://example.com:8443/a",
      "http://example.com/a",
      "ftp://example.com/a",
    ]) {
      expect(isPublicHttpsUrl(url)).toBe(false);
      expect(webhookUrlProblem(url, false)).not.toBeNull();
    }
  });
});
