/** The page of automatic top-up: its state and what to do, the holder's choice, and the newest top-ups. */
import type { TopUp, TopUpRecord, TopUpView } from "../../account/contract.ts";
import type { CreditPackage, PackagePrices } from "../../domain/purchases.ts";
import {
  Choice,
  describedBy,
  FieldProblem,
  groupDescribedBy,
  problemText,
} from "../allowance/fields.tsx";
import { rich, t, type PlainText, type Said } from "../language/text.tsx";
import { credits, number } from "../layout/labels.ts";
import { FIRST_TO_READ, NoticeLine, Page } from "../layout/layout.tsx";
import { currentShell } from "../layout/shell.ts";
import { Time, Zone } from "../layout/time.tsx";
import {
  TOP_UP_FAILURES,
  TOP_UP_OUTCOME_TEXTS,
  TOP_UP_STATE_TEXTS,
} from "../layout/top_up_texts.ts";
import { money, priceText } from "./money.ts";

/** As the holder typed it. */
export interface TopUpChoices {
  readonly package_id: string;
  readonly threshold: string;
  readonly month_limit: string;
}

export interface TopUpProblems {
  readonly package?: Said;
  readonly threshold?: Said;
  readonly month_limit?: Said;
}

interface TopUpPageProps extends TopUp {
  readonly packages: readonly CreditPackage[];
  /** By the package's id. */
  readonly prices: PackagePrices;
  readonly choices: TopUpChoices;
  readonly problems: TopUpProblems;
  readonly notice: Said | null;
}

const FACTS: readonly PlainText[] = [
  "One payment buys as many packages as bring you back to the threshold.",
  "Payments that are under way count for the month’s limit, so it is never exceeded. Months are in UTC.",
  "A failed payment is tried again after an hour. After three, it is switched off.",
  "Jobs do not wait for a payment.",
];

export function TopUpPage(props: TopUpPageProps) {
  const { setting, top_ups, problems, notice } = props;
  const has_problems = Object.keys(problems).length > 0;
  const title = t("Automatic top-up");
  return (
    <Page
      title={has_problems ? t("Error: {title}", { title }) : title}
      section="account"
      scripts={["times.js"]}
      is_of_top_up
    >
      <NoticeLine notice={notice} />
      <div class="columns">
        <div class="main-column">
          <section class="panel">
            <h1>{title}</h1>
            {setting === null ? (
              <p>
                {t(
                  "Buys credits for you when your balance runs low, so that jobs do not stop. Stripe keeps your card; Passbook never sees its number. Saving the card charges nothing.",
                )}
              </p>
            ) : (
              <State setting={setting} balance={props.credits} />
            )}
          </section>
          <Form {...props} has_problems={has_problems} />
          <History top_ups={top_ups} />
        </div>
        <div class="side-column">
          <section class="panel">
            <h2>{t("How it works")}</h2>
            <ul>
              {FACTS.map((fact) => (
                <li>{t(fact)}</li>
              ))}
            </ul>
            <p>
              <a href="/account">{t("Your account")}</a>
            </p>
          </section>
          <Zone />
        </div>
      </div>
    </Page>
  );
}

function State({ setting, balance }: { readonly setting: TopUpView; readonly balance: number }) {
  const { plan, month_spent_minor, card, state, retry_at_ms } = setting;
  const { title, text } = TOP_UP_STATE_TEXTS[state];
  const { currency } = plan;
  return (
    <>
      <p class={setting.on && state !== "limit_reached" ? "top-up-state" : "top-up-state is-off"}>
        <strong>{t(title)}</strong> {t(text)}
      </p>
      {state === "retrying" && retry_at_ms !== null ? (
        <p>{rich("Next attempt: {time}", { time: <Time at_ms={retry_at_ms} /> })}</p>
      ) : null}
      <dl class="details">
        <div>
          <dt>{t("Your balance")}</dt>
          <dd>{credits(balance)}</dd>
        </div>
        <div>
          <dt>{t("Charged this month")}</dt>
          <dd>
            {t("{spent} of at most {limit}", {
              spent: money(month_spent_minor, currency),
              limit: money(plan.month_limit_minor, currency),
            })}
          </dd>
        </div>
        <div>
          <dt>{t("Card")}</dt>
          <dd>{cardName(card)}</dd>
        </div>
      </dl>
      <p>
        <a href="/account#buy">{t("Buy credits by hand")}</a>
      </p>
      <div class="acts">
        {state === "holder" ? null : (
          <form method="post" action="/account/top-up">
            <button type="submit" name="act" value="off" class="quiet">
              {setting.on ? t("Switch off") : t("Leave it off")}
            </button>
          </form>
        )}
      </div>
    </>
  );
}

/** In the words of the adapter: "Visa ending in 4242". */
function cardName(card: string): string {
  const [brand = "", digits] = card.split(" ending in ");
  return digits === undefined ? card : t("{brand} ending in {digits}", { brand, digits });
}

function Form(props: TopUpPageProps & { readonly has_problems: boolean }) {
  const { setting, packages, prices, choices, problems, has_problems } = props;
  return (
    <section class="panel" aria-labelledby="top-up-form">
      <h2 id="top-up-form">{setting === null ? t("Set it up") : t("Your choice")}</h2>
      {has_problems ? (
        <p class="notice is-bad" role="alert" {...FIRST_TO_READ}>
          {t("Nothing was saved. Correct what is marked below.")}
        </p>
      ) : null}
      <form method="post" action="/account/top-up" class="stack">
        <fieldset {...groupDescribedBy("package_problem", problems.package)}>
          <legend>{t("Package")}</legend>
          <FieldProblem id="package_problem" problem={problemText(problems.package)} />
          {packages.map(({ id, name, credits: of_package }) => {
            const price = prices.get(id);
            return (
              <Choice type="radio" name="package" value={id} checked={id === choices.package_id}>
                {name}, {number(of_package)} {t("credits")}
                {price === undefined ? "" : `, ${priceText(price)}`}
              </Choice>
            );
          })}
        </fieldset>
        <input type="hidden" name="language" value={currentShell().language} />
        <Amounts choices={choices} problems={problems} />
        <Buttons setting={setting} />
        <p class="hint">
          {t(
            "By this you allow us to charge your card without asking you each time, within this limit. You can switch it off at any time.",
          )}
        </p>
      </form>
    </section>
  );
}

function Amounts({ choices, problems }: Pick<TopUpPageProps, "choices" | "problems">) {
  return (
    <>
      <label for="threshold">{t("When fewer credits are available than")}</label>
      <FieldProblem id="threshold_problem" problem={problemText(problems.threshold)} />
      <input
        id="threshold"
        name="threshold"
        type="text"
        inputmode="numeric"
        maxlength={10}
        required
        value={choices.threshold}
        {...describedBy("threshold_problem", problems.threshold)}
      />
      <label for="month_limit">{t("At most in a calendar month")}</label>
      <FieldProblem id="month_limit_problem" problem={problemText(problems.month_limit)} />
      <input
        id="month_limit"
        name="month_limit"
        type="text"
        inputmode="decimal"
        maxlength={13}
        required
        value={choices.month_limit}
        {...describedBy("month_limit_problem", problems.month_limit, "month_limit_hint")}
      />
      <p class="hint" id="month_limit_hint">
        {t(
          "An amount of money in the currency of the package, such as 50.00. Nothing beyond it is charged automatically.",
        )}
      </p>
    </>
  );
}

function Buttons({ setting }: Pick<TopUpPageProps, "setting">) {
  return (
    <div class="acts">
      {setting === null ? (
        <button type="submit" name="act" value="new_card">
          {t("Save a card at Stripe")}
        </button>
      ) : (
        <>
          <button type="submit" name="act" value="save">
            {setting.on ? t("Save") : t("Switch on with this card")}
          </button>
          <button type="submit" name="act" value="new_card" class="quiet">
            {t("Save with another card")}
          </button>
        </>
      )}
    </div>
  );
}

function History({ top_ups }: { readonly top_ups: readonly TopUpRecord[] }) {
  if (top_ups.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="top-ups-name">
      <h2 id="top-ups-name">{t("Automatic payments")}</h2>
      <ul class="rows">
        {top_ups.map((it) => (
          <li>
            <span>
              <strong>{t(TOP_UP_OUTCOME_TEXTS[it.outcome])}</strong> {credits(it.credits)}
              <span class="hint below">
                <Time at_ms={it.created_at_ms} />
                {it.failure === null ? null : ` · ${t(TOP_UP_FAILURES[it.failure])}`}
              </span>
            </span>
            <span class="paid">{money(it.amount_minor, it.currency)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
