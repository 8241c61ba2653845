/**
 * `GET /.well-known/jwks.json`: the public keys, so that apps can check session JWTs themselves. They
 * must require `typ: session+jwt`; README, "Checking tokens yourself".
 */
import { factory } from "../../context.ts";

export const readJwks = factory.createHandlers((context) => {
  context.header("Cache-Control", "public, max-age=300");
  context.header("Access-Control-Allow-Origin", "*");
  return context.json(context.get("services").keys.public_jwks);
});
