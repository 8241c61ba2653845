/** The service, the sign-in provider and the payment service that the guides' commands need, and a folder to run them in. */
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Passbook, StartPassbook } from "../../../src/client/testing/index.ts";
import { DEVELOPMENT_OPERATOR } from "../../../src/commands/development_settings.ts";
import { freePort } from "../../../src/commands/local_worker.ts";
import type { StripeDouble } from "../../worker/payments/stripe_double.ts";
import { CLIENT, startRealProvider, type RealProvider } from "../flows/real_provider.ts";
import { approveDevice } from "../oauth/service.ts";
import { blocksOf, runShell, type Shell } from "../support/guide.ts";
import { installPackage } from "../support/installed.ts";
import { startStripe } from "../support/stripe_server.ts";

/** The address of the service in the guides. */
const WRITTEN = /https:\/\/passbook\.example\.com|http:\/\/localhost:8787/g;
const PYTHON = "python";

type Environment = Readonly<Record<string, string>>;

/** What a guide leaves to its reader: code before and after a block, settings, and texts of the block to replace. */
export interface Around {
  readonly before?: string;
  readonly after?: string;
  readonly env?: Environment;
  readonly replace?: Readonly<Record<string, string>>;
}

/** The code of one guide. Each block is found by a text in it. */
export interface Guide {
  /** Runs a block in bash, Node or Python, as its language says. @returns its output */
  run(text: string, around?: Around): Promise<string>;
  /** Starts a block that waits for something. */
  start(text: string, around?: Around): Promise<Shell>;
  /** A block that the test sends or builds itself. */
  take(text: string): string;
  /** The commands that the guide has in its sentences and tables and that begin so. */
  commands(beginning: string): readonly string[];
  /** The code that no test has used. JSON shows bodies, which a test may compare with its own. */
  left(): readonly string[];
}

export interface GuideService {
  readonly passbook: Passbook;
  readonly folder: string;
  readonly provider: RealProvider;
  readonly stripe: StripeDouble;
  open(file: string): Guide;
  /** Starts commands in bash. */
  shell(commands: string, env?: Environment): Shell;
  /** Runs commands as an operator who signed in as docs/operators.md says. @returns their output */
  operate(commands: string, env?: Environment): Promise<string>;
  /** The token of that operator. */
  operatorToken(): Promise<string>;
  stop(): Promise<void>;
}

/** `options`: the apps and people. */
export async function startGuideService(options: StartPassbook): Promise<GuideService> {
  const [installed, payments, port] = await Promise.all([
    installPackage(),
    startStripe(),
    freePort(),
  ]);
  const home = await mkdtemp(join(tmpdir(), "passbook-guides-"));
  const { folder } = installed;
  const modules = join(folder, "node_modules");
  await mkdir(join(modules, "@hono"));
  for (const name of ["miniflare", "@hono/node-server", "react", "react-dom"]) {
    await symlink(resolve("node_modules", name), join(modules, name));
  }
  const kit = pathToFileURL(join(modules, "passbook-client/client/testing/index.js")).href;
  const { startPassbook } = (await import(kit)) as {
    startPassbook: (options: StartPassbook) => Promise<Passbook>;
  };
  const settings = { ...payments.settings, ...providerSettings(port) };
  const passbook = await startPassbook({ ...options, settings });
  const provider = await startRealProvider(port, `${passbook.url}/signin/callback/github`);
  const environment = (more: Environment = {}): NodeJS.ProcessEnv => ({
    PATH: [join(modules, ".bin"), resolve("node_modules/.bin"), process.env["PATH"]].join(":"),
    PYTHONPATH: resolve("clients/python"),
    PYTHONDONTWRITEBYTECODE: "1",
    HOME: home,
    BASE_URL: passbook.url,
    ...more,
  });
  let blocks = 0;
  const start = async (language: string, block: string, around: Around): Promise<Shell> => {
    let code = block.replaceAll(WRITTEN, passbook.url);
    for (const [text, other] of Object.entries(around.replace ?? {})) {
      if (!code.includes(text)) throw new Error(`The block does not have “${text}”:\n${code}`);
      code = code.replaceAll(text, other);
    }
    code = [around.before ?? "", code, around.after ?? ""].join("\n");
    const options = { cwd: folder, env: environment(around.env) };
    if (language === "sh") return runShell(code, options);
    blocks += 1;
    const file = `block-${blocks}.${language === PYTHON ? "py" : "mjs"}`;
    await writeFile(join(folder, file), code);
    return runShell(`exec ${language === PYTHON ? "python3" : "node"} ${file}`, options);
  };
  const operator = { HOME: join(home, "operator") };
  await signInOperator(await start("sh", OPERATOR_LOGIN, { env: operator }), passbook.url);
  const done = async (shell: Promise<Shell>): Promise<string> => (await shell).done();
  return {
    passbook,
    folder,
    provider,
    stripe: payments.stripe,
    shell: (commands, env = {}) => runShell(commands, { cwd: folder, env: environment(env) }),
    operate: (commands, env = {}) => done(start("sh", commands, { env: { ...operator, ...env } })),
    async operatorToken() {
      const file = join(operator.HOME, ".config/passbook/credentials.json");
      return (JSON.parse(await readFile(file, "utf8")) as { token: string }).token;
    },
    open(file) {
      const languages = ["sh", "js", "jsx", PYTHON, "http", "json"];
      const left = new Map(
        languages.flatMap((language) => blocksOf(file, language).map((code) => [code, language])),
      );
      const take = (text: string): readonly [language: string, code: string] => {
        const found = [...left].find(([code]) => code.includes(text));
        if (found === undefined) throw new Error(`${file} has no further block with “${text}”.`);
        left.delete(found[0]);
        return [found[1] ?? "", found[0]];
      };
      const begin = (text: string, around: Around = {}) => start(...take(text), around);
      return {
        start: begin,
        run: (text, around) => done(begin(text, around)),
        take: (text) => take(text)[1].replaceAll(WRITTEN, passbook.url),
        commands: (beginning) =>
          [...readFileSync(file, "utf8").matchAll(/`([^`\n]+)`/g)]
            .map(([, code = ""]) => code)
            .filter((code) => code.startsWith(beginning)),
        left: () => [...left].filter(([, it]) => it !== "json").map(([code]) => code),
      };
    },
    async stop() {
      payments.close();
      await provider.stop();
      await passbook.stop();
      await installed.remove();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The first command of docs/operators.md. */
const OPERATOR_LOGIN =
  blocksOf("docs/operators.md", "sh")
    .join("")
    .match(/^passbook login --admin.*$/m)?.[0] ?? "";

async function signInOperator(shell: Shell, issuer: string): Promise<void> {
  const [, code = ""] = await shell.heard(/Enter\s+([A-Z-]{9})/);
  const rights = { scopes: ["read", "write", "admin"] };
  await approveDevice({ issuer }, code, DEVELOPMENT_OPERATOR, rights);
  await shell.done();
}

/** GitHub is a real OpenID provider on loopback. */
function providerSettings(port: number): Environment {
  const issuer = `http://localhost:${port}`;
  const github = {
    id: "github",
    name: "GitHub",
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    scope: "openid offline_access",
    ...CLIENT,
  };
  return {
    OPERATORS: DEVELOPMENT_OPERATOR,
    SIGNIN_PROVIDERS: JSON.stringify([github]),
    SOCIAL_PROVIDER: "github",
    SOCIAL_API_URL: `${issuer}/me`,
  };
}
