/** The OpenAPI document. `npm run openapi` writes it to `docs/openapi.json`. */
import { createDocument, type ZodOpenApiOverride } from "zod-openapi";
import { PAGE_DEFAULT_ROWS, PAGE_MAX_ROWS } from "../../domain/limits.ts";
import { metadata, pageLimit } from "../validation.ts";
import { service_of_operators } from "../api/admin/admin_document.ts";
import { access } from "../api/access/access_document.ts";
import { accounts } from "../api/admin/accounts/accounts_document.ts";
import { archive } from "../api/admin/archive/archive_document.ts";
import { apps } from "../api/admin/apps/apps_document.ts";
import { webhook_events } from "../api/admin/webhooks/webhooks_schemas.ts";
import { clients } from "../api/admin/clients/clients_document.ts";
import { plans } from "../api/admin/plans/plans_document.ts";
import { resources } from "../api/admin/resources/resources_document.ts";
import { webhooks } from "../api/admin/webhooks/webhooks_document.ts";
import { app_itself } from "../api/app/app_document.ts";
import { wallet } from "../api/wallet/wallet_document.ts";
import { events } from "../api/events/events_document.ts";
import { jobs } from "../api/jobs/jobs_document.ts";
import { payments } from "../api/payments/payments_document.ts";
import { ledger } from "../api/ledger/ledger_document.ts";
import { me } from "../api/me/me_document.ts";
import { session, session_page } from "../api/session/session_document.ts";
import { device, device_page } from "../api/device/device_document.ts";
import { personal_tokens } from "../api/personal_tokens/personal_tokens_document.ts";
import { upstream_tokens } from "../api/upstream_tokens/upstream_tokens_document.ts";
import { service } from "../api/service/service_document.ts";
import { API } from "../routes.ts";
import { isDescribed, TAGS } from "./operation.ts";

/** Schemas that JSON Schema describes differently. */
const override: ZodOpenApiOverride = ({ zodSchema, jsonSchema }) => {
  const is = (schema: unknown): boolean => schema === zodSchema;
  if (is(metadata)) {
    jsonSchema.type = "object";
    jsonSchema.description =
      "Any JSON object of at most 16 KiB. Pages show `description` and `previewUrl`.";
  }
  // Few validators and generators set the flag that classes such as \p{L} need, so a description replaces the pattern.
  const patterns = [
    jsonSchema.pattern,
    ...(jsonSchema.allOf ?? []).map((part) => Object(part).pattern),
  ];
  if (patterns.some((pattern) => String(pattern).includes("\\p{"))) {
    delete jsonSchema.pattern;
    delete jsonSchema.allOf;
    jsonSchema.description =
      "Plain text with at least one visible character, without control and format characters.";
  }
  if (is(pageLimit)) {
    delete jsonSchema.pattern;
    jsonSchema.type = "integer";
    jsonSchema.minimum = 1;
    jsonSchema.maximum = PAGE_MAX_ROWS;
    jsonSchema.default = PAGE_DEFAULT_ROWS;
  }
};

const DESCRIPTION = `Shared sign-in, a credit wallet, and jobs that reserve credits before work starts and settle the real cost afterwards.

Errors are \`{ error, code }\`: a message for people and a stable code for programs. Costs and balances are whole credits. Times are RFC 3339 in UTC. A write may have an \`Idempotency-Key\`; a request that is repeated with its key takes effect once. An unknown query parameter is refused with \`invalid_request\`, because a filter that is ignored would return everything. An unknown field of a body is refused if it resembles a known one.

Apps and agents connect to a person's account by OAuth 2.1 and OpenID Connect. Those endpoints follow their standards: any client library finds them at \`/.well-known/oauth-authorization-server\`.`;

/** The whole document, OpenAPI 3.1. */
// oxlint-disable-next-line max-lines-per-function -- one literal: the document
export function openApiDocument(): object {
  const undescribed = API.find((endpoint) => !isDescribed(endpoint));
  if (undescribed !== undefined) throw new Error(`${undescribed.at} has no description`);
  return createDocument(
    {
      openapi: "3.1.0",
      info: {
        title: "Passbook",
        version: "0.1.0",
        description: DESCRIPTION,
        contact: { name: "The operator of this service" },
        license: { name: "MIT", identifier: "MIT" },
      },
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      servers: [{ url: "/" }],
      paths: {
        ...wallet,
        ...events,
        ...jobs,
        ...payments,
        ...ledger,
        ...me,
        ...session,
        ...device,
        ...access,
        ...personal_tokens,
        ...upstream_tokens,
        ...accounts,
        ...archive,
        ...service_of_operators,
        ...apps,
        ...app_itself,
        ...clients,
        ...resources,
        ...plans,
        ...webhooks,
        ...service,
        ...session_page,
        ...device_page,
      },
      webhooks: webhook_events,
      components: {
        headers: {
          "Passbook-Request-Id": {
            description: "The id of this request. Send it when you report a problem.",
            required: true,
            schema: { type: "string" },
          },
        },
        securitySchemes: {
          sessionToken: {
            type: "http",
            scheme: "bearer",
            bearerFormat: "JWT",
            description:
              "A session token from `/signin` or `/api/sessionToken`. Valid for 15 minutes.",
          },
          personalAccessToken: {
            type: "http",
            scheme: "bearer",
            description:
              "A personal access token (`pb_pat_…`) from device login, valid for about 90 days, or the access token of an OAuth connection (`pb_at_…`), valid for ten minutes.",
          },
          appKey: {
            type: "http",
            scheme: "bearer",
            description:
              "An app's key (`pb_app_…`), only for the app's server, with the identity of the account in `Passbook-Identity`. It gives access to the app's own jobs, in accounts that were opened for the app.",
          },
          cookies: {
            type: "apiKey",
            in: "cookie",
            name: "passbook_session",
            description:
              "A signed-in browser; writes require an allowed origin. With https the name is `__Host-passbook_session`. The session token's cookie on the parent domain counts only together with it.",
          },
          socialNetworkToken: {
            type: "http",
            scheme: "bearer",
            description: "A token of the social network, not of this service.",
          },
        },
      },
    },
    { override },
  );
}
