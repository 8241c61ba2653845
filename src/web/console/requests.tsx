/** `GET /console/requests[?request_id=&account=&app=&from=&to=]`: the service's traffic, and how a request went. */
import { DAY_MS } from "../../domain/calendar.ts";
import { REFUSAL_STATUS } from "../../domain/refusal_codes.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { refused, type Result } from "../../domain/result.ts";
import { factory } from "../../http/context.ts";
import type { RequestSums, RouteSums } from "../../domain/request_metrics.ts";
import { listRequestsQuery, readRequests } from "../../operator/read_requests.ts";
import { counted, number } from "../layout/labels.ts";
import { Time, Zone } from "../layout/time.tsx";
import { ConsolePage } from "./console_page.tsx";
import { Details, Panel } from "./panel.tsx";
import { problemOf, readQuery } from "./queries.ts";
import { FilterForm, FilterProblem, Table, type Filter, type Filters } from "./table.tsx";
import * as z from "zod/mini";

/** The page's filter has days; `to` is the last day. */
const day = z.pipe(z.iso.date(), z.transform(Date.parse));
const pageQuery = z.extend(listRequestsQuery, { from: z.optional(day), to: z.optional(day) });

type Read = Result<Traffic, Refusal>;
type Traffic = Extract<Awaited<ReturnType<typeof readRequests>>, { readonly ok: true }>["value"];
type Found = Traffic["requests"][number];

export const showRequests = factory.createHandlers(async (context) => {
  const { to, ...query } = readQuery(context, pageQuery);
  const wanted = { ...query, ...(to === undefined ? {} : { to: to + DAY_MS }) };
  const is_invalid =
    query.request_id === undefined && (context.req.query("request_id") ?? "") !== "";
  const read = is_invalid
    ? refused({ code: "invalid_request", detail: "This is not the id of a request." } as const)
    : await readRequests(context.get("services"), wanted);
  const { request_id, account, app, from } = query;
  const dayOf = (name: string, value: unknown) =>
    value === undefined ? undefined : context.req.query(name);
  const filters = { request_id, account, app, from: dayOf("from", from), to: dayOf("to", to) };
  const page = <RequestsPage read={read} filters={filters} />;
  return context.html(page, read.ok ? 200 : REFUSAL_STATUS[read.refusal.code]);
});

const FILTERS: readonly Filter[] = [
  { name: "request_id", label: "Request id" },
  { name: "account", label: "Account" },
  { name: "app", label: "App" },
  { name: "from", label: "From", type: "date" },
  { name: "to", label: "To", type: "date" },
];

function RequestsPage({ read, filters }: { readonly read: Read; readonly filters: Filters }) {
  return (
    <ConsolePage title="Requests" section="requests" scripts={["times.js"]}>
      <FilterForm path="/console/requests" values={filters} filters={FILTERS} />
      {read.ok ? (
        <TrafficPanels {...read.value} filters={filters} />
      ) : (
        <FilterProblem problem={problemOf(read) ?? ""} />
      )}
      <Zone />
    </ConsolePage>
  );
}

function TrafficPanels(props: Traffic & { readonly filters: Filters }) {
  const { source, hour, day: of_day, routes, requests, filters } = props;
  const is_filtered = Object.values(filters).some((value) => value !== undefined);
  const { request_id, account, app } = filters;
  const names_some = [request_id, account, app].some((value) => value !== undefined);
  const found = (
    <Panel id="found" title={names_some ? "Requests" : "Failed requests"}>
      <RequestTable requests={requests} is_filtered={is_filtered} />
    </Panel>
  );
  return (
    <>
      {source === "memory" ? (
        <p class="hint">
          This local service remembers its last 1,000 requests. A deployed one reads them from
          Cloudflare.
        </p>
      ) : null}
      {is_filtered ? found : null}
      <Panel id="rates" title="Rates">
        <Details
          facts={[
            ["Last hour", <Rates {...hour} />],
            ["Last 24 hours", <Rates {...of_day} />],
          ]}
        />
      </Panel>
      {is_filtered ? null : found}
      <Panel id="routes" title="Slowest routes in the last hour">
        <RouteTable routes={routes} />
      </Panel>
    </>
  );
}

function Rates({ requests, failed, limited }: RequestSums) {
  const share = (part: number): string =>
    requests === 0 ? "0%" : `${number(Math.round((part / requests) * 1e5) / 1e3)}%`;
  return (
    <>
      {counted(requests, "request", "requests")}
      <span class="hint below">
        {number(failed)} failed ({share(failed)}), {number(limited)} over a limit ({share(limited)})
      </span>
    </>
  );
}

function RequestTable(props: {
  readonly requests: readonly Found[];
  readonly is_filtered: boolean;
}) {
  return (
    <Table
      label="Requests, newest first"
      columns={["When", "Request", "Response", "From", { amount: "Waited" }]}
      rows={props.requests.map((request) => [
        <Time at_ms={Date.parse(request.at)} />,
        <>
          <code>
            {request.method} {request.route ?? "no route"}
          </code>
          <span class="hint below">{request.request_id}</span>
        </>,
        <>
          {request.status}
          {request.code === null ? null : <span class="hint below">{request.code}</span>}
        </>,
        <>
          {request.app ?? "no app"}
          <span class="hint below">
            {[request.caller ?? "nobody", request.colo, request.release?.slice(0, 8)]
              .filter((it) => it)
              .join(" · ")}
          </span>
        </>,
        <>
          {number(request.duration_ms)} ms
          <span class="hint below">
            {number(request.account_calls)} account {request.account_calls === 1 ? "call" : "calls"}
          </span>
        </>,
      ])}
      empty={
        props.is_filtered ? (
          <>
            No requests match. They are here some seconds after their response.{" "}
            <a href="/console/requests">Show those that failed</a>
          </>
        ) : (
          "No request failed."
        )
      }
    />
  );
}

function RouteTable({ routes }: { readonly routes: readonly RouteSums[] }) {
  return (
    <Table
      label="Routes, those that wait longest first"
      columns={[
        "Route",
        { amount: "Requests" },
        { amount: "Failed" },
        { amount: "Median" },
        { amount: "95%" },
      ]}
      rows={routes.map(({ method, route, requests, failed, p50_ms, p95_ms }) => [
        <code>
          {method} {route ?? "no route"}
        </code>,
        number(requests),
        number(failed),
        `${number(p50_ms)} ms`,
        `${number(p95_ms)} ms`,
      ])}
      empty="No requests in the last hour."
    />
  );
}
