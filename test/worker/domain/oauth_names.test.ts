import { describe, expect, it } from "vitest";
import {
  appOfClient,
  hostOfClient,
  isRegisteredClientId,
  registeredClientId,
  splitClientId,
} from "../../../src/domain/oauth_client.ts";
import { readLogoutRequest, postLogoutAddress } from "../../../src/domain/logout_request.ts";
import { duringRequest, requestFields, takeOrigin } from "../../../src/domain/request_origin.ts";
import { resourceKey, resourceProblem } from "../../../src/domain/resource_uri.ts";

describe("the id of a client", () => {
  it("a registered client's id has its app and its own id", () => {
    const id = registeredClientId("demo", "web");
    expect(isRegisteredClientId(id)).toBe(true);
    expect(splitClientId(id)).toEqual({ app_slug: "demo", id: "web" });
    expect(appOfClient(id)).toBe("demo");
  });

  it.each(["demo", "~web", "demo~", "demo~web~x", "Demo~web", "demo~Web", ""])(
    "%j is not the id of a registered client",
    (id) => expect(isRegisteredClientId(id)).toBe(false),
  );

  it("a document client acts as its own host", () => {
    expect(appOfClient("https://client.example/document")).toBe("client.example");
    expect(appOfClient("neither")).toBeNull();
    expect(hostOfClient("https://client.example:8080/document")).toBe("client.example:8080");
    expect([hostOfClient("neither"), hostOfClient("demo~web")]).toEqual([null, null]);
  });
});

describe("the address of a resource", () => {
  it("a bare origin is the same with a slash, and a path is not", () => {
    expect(resourceKey("https://mcp.example/")).toBe("https://mcp.example");
    expect(resourceKey("https://mcp.example")).toBe("https://mcp.example");
    expect(resourceKey("https://mcp.example/a/")).toBe("https://mcp.example/a/");
  });

  const longest = `https://mcp.example/${"x".repeat(460)}`;
  it.each([
    "https://mcp.example/mcp",
    "https://mcp.example",
    "https://mcp.example/",
    "http://localhost:3000/mcp",
    "http://127.0.0.1/mcp",
    longest,
  ])("%s can be registered", (uri) => {
    expect(resourceProblem(uri)).toBeNull();
  });

  it.each([
    [`${longest}x`, "480 characters"],
    ["mcp.example", "absolute address"],
    ["https://mcp.example/#a", "fragment"],
    ["https://mcp.example/?a", "query"],
    ["http://mcp.example/mcp", "must be https"],
    ["myapp://localhost/mcp", "must be https"],
    ["https://MCP.example/mcp", "written as https://mcp.example/mcp"],
  ])("%s cannot be registered", (uri, problem) => {
    expect(resourceProblem(uri)).toContain(problem);
  });
});

describe("a request to sign out", () => {
  const read = (text: string) => readLogoutRequest(new URLSearchParams(text));

  it("parameters without a value count as not sent, and none may be sent twice", () => {
    expect(read("client_id=a&state=&id_token_hint=b&post_logout_redirect_uri=c&other=x")).toEqual({
      ok: true,
      value: { client_id: "a", state: null, id_token_hint: "b", post_logout_redirect_uri: "c" },
    });
    expect(read("state=s")).toEqual({
      ok: true,
      value: { client_id: null, state: "s", id_token_hint: null, post_logout_redirect_uri: null },
    });
    expect(read("state=&state=s").ok).toBe(true);
    expect(read("state=s&state=s")).toEqual({ ok: false, refusal: "repeated" });
  });

  it("the browser goes back with the client's state", () => {
    expect(postLogoutAddress("https://a.example/", null)).toBe("https://a.example/");
    expect(postLogoutAddress("https://a.example/", "s t")).toBe("https://a.example/?state=s+t");
    expect(postLogoutAddress("https://a.example/?x", "s")).toBe("https://a.example/?x&state=s");
  });
});

describe("the request that an object works for", () => {
  it("what runs within a request has its id, also within another piece of work", () => {
    expect(requestFields()).toEqual({});
    const seen = duringRequest("a", () => [
      requestFields(),
      duringRequest("b", requestFields),
      duringRequest(null, requestFields),
      requestFields(),
    ]);
    expect(seen.map(({ request_id }) => request_id)).toEqual(["a", "b", "a", "a"]);
    expect(requestFields()).toEqual({});
  });

  it("a request's id ends with its work, also if the work throws", () => {
    const broken = () => {
      throw new Error("broken");
    };
    expect(() => duringRequest("a", broken)).toThrow("broken");
    expect(requestFields()).toEqual({});
  });

  it("the origin of a call is its last argument, and is removed from the others", () => {
    const values: unknown[] = [1, { passbook_request_id: "a" }];
    expect(takeOrigin(values)).toBe("a");
    expect(values).toEqual([1]);
    for (const others of [[], [null], ["text"], [{ other: 1 }]]) {
      const before = [...others];
      expect(takeOrigin(others)).toBeNull();
      expect(others).toEqual(before);
    }
  });

  it("the origin of a request to an object is in its header", () => {
    const request = new Request("https://a.example", { headers: { "Passbook-Request-Id": "a" } });
    const values = [request];
    expect(takeOrigin(values)).toBe("a");
    expect(values).toHaveLength(1);
    expect(takeOrigin([new Request("https://a.example")])).toBeNull();
  });
});
