/**
 * `GET /.well-known/jwks.json`: the public keys, with which apps verify session JWTs and ID tokens themselves. An app must
 * also require `typ: session+jwt` of a session JWT.
 */
import { endpoint } from "../endpoint.ts";

export const readPublicKeys = endpoint(
  { at: "GET /.well-known/jwks.json", caller: "anyone" },
  (context) => {
    context.header("Cache-Control", "public, max-age=300");
    return context.json(context.get("services").public_jwks);
  },
);
