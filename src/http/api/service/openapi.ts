/** What the OpenAPI document says of the service itself. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { operation } from "../../openapi/operation.ts";
import * as schemas from "../../openapi/schemas.ts";

export const service_paths: ZodOpenApiPathsObject = {
  "/.well-known/jwks.json": {
    get: operation({
      id: "readPublicKeys",
      tag: "Service",
      summary: "The public keys of session tokens (RFC 7517)",
      description:
        "With them a server verifies session tokens itself. The first key signs; the others verify tokens of an earlier key.",
      security: "none",
      success: {
        description: "The keys.",
        schema: schemas.public_keys,
        example: {
          keys: [
            {
              kty: "OKP",
              crv: "Ed25519",
              kid: "2026-11",
              x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
              alg: "EdDSA",
              use: "sig",
            },
          ],
        },
      },
      refusals: [],
    }),
  },
  "/healthz": {
    get: operation({
      id: "readHealth",
      tag: "Service",
      summary: "The Worker runs",
      description: "Queries no store, and responds on wrong settings too.",
      security: "none",
      success: { description: "It does.", schema: schemas.done, example: { ok: true } },
      refusals: [],
    }),
  },
  "/readyz": {
    get: operation({
      id: "readReadiness",
      tag: "Service",
      summary: "The stores and keys answer",
      description: "What was found is repeated for some seconds.",
      security: "none",
      success: [
        {
          description: "All of them do.",
          schema: schemas.readiness,
          example: {
            ok: true,
            checks: { directory: true, read_model: true, codes: true, keys: true },
          },
        },
        {
          status: 503,
          description: "One of them does not.",
          schema: schemas.readiness,
          example: {
            ok: false,
            checks: { directory: true, read_model: false, codes: true, keys: true },
          },
        },
      ],
      refusals: [],
    }),
  },
};
