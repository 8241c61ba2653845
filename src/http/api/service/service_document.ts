/** The service itself in the OpenAPI document. */
import { RELEASE_HEADER } from "../../../domain/wire.ts";
import { describe } from "../../openapi/operation.ts";
import * as endpoints from "./jwks.ts";
import { healthEndpoints } from "./health.ts";
import * as schemas from "../../openapi/schemas.ts";

const RELEASE = {
  [RELEASE_HEADER]: {
    description: "The platform's id of the release that responds.",
    required: false,
    schema: { type: "string" },
  },
} as const;

function notCalled(): never {
  throw new Error("the document calls no handler");
}

export const service = describe(
  "Service",
  { ...endpoints, ...healthEndpoints(notCalled) },
  {
    readPublicKeys: {
      summary: "The public keys of our signed tokens (RFC 7517)",
      description:
        "Servers verify our tokens with these keys: with EdDSA session tokens and tokens of templates, with RS256 ID tokens and access tokens for other resources. The first key of each kind signs new tokens; the others verify tokens of earlier keys.",
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
            {
              kty: "RSA",
              kid: "2026-11-id",
              n: "u1SU1LfVLPHCozMxH2Mo",
              e: "AQAB",
              alg: "RS256",
              use: "sig",
            },
          ],
        },
      },
    },
    readHealth: {
      summary: "Check that the Worker runs",
      description: "Queries no store, and works even with wrong settings.",
      success: { description: "The Worker runs.", schema: schemas.done, example: { ok: true } },
    },
    readReadiness: {
      summary: "Check the stores and keys",
      description:
        "The result is cached for some seconds. `read_model`, `archive` and `codes` are warnings: `ok` stays true if only they fail.",
      success: [
        {
          description: "Everything works that sign-in, wallets and jobs need.",
          headers: RELEASE,
          schema: schemas.readiness,
          example: {
            ok: true,
            checks: {
              directory: true,
              read_model: true,
              archive: true,
              codes: true,
              keys: true,
              account: true,
            },
          },
        },
        {
          status: 503,
          description: "Something does not work that sign-in, wallets or jobs need.",
          headers: RELEASE,
          schema: schemas.readiness,
          example: {
            ok: false,
            checks: {
              directory: false,
              read_model: true,
              archive: true,
              codes: true,
              keys: true,
              account: true,
            },
          },
        },
      ],
    },
  },
);
