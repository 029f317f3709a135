// A real OpenID provider (oidc-provider) as the vendor of the sign-in tests.
// usage: node vendor.mjs PORT CALLBACK_URL...   prints "ready" when it listens
import Provider from "oidc-provider";

const [port, ...callbacks] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;

// The name typed at the login form picks the person.
const people = {
  erika: { email: "erika@example.org", email_verified: true, given_name: "Erika", family_name: "Mustermann", preferred_username: "erika" },
  // never made an operator by any test: operators' accounts are not linked by their e-mail
  zora: { email: "zora@example.org", email_verified: true, given_name: "Zora", family_name: "Zweifach" },
  ohne: { given_name: "Otto", family_name: "Ohnepost" },
  offen: { email: "offen@example.org", email_verified: false, given_name: "Olga", family_name: "Offen" },
  eigen: { id: 4711, email: "eigen@example.org", first_name: "Emil", last_name: "Eigen" },
};

const client = (id, method) => ({
  client_id: id,
  client_secret: `geheimnis-von-${id}-0123456789`,
  token_endpoint_auth_method: method,
  redirect_uris: callbacks,
  grant_types: ["authorization_code"],
  response_types: ["code"],
});

const provider = new Provider(issuer, {
  clients: [
    client("post", "client_secret_post"),
    client("basic", "client_secret_basic"),
    client("pkce", "client_secret_post"),
  ],
  pkce: { required: (_, asking) => asking.clientId === "pkce" },
  claims: {
    openid: ["sub"],
    email: ["email", "email_verified"],
    profile: ["given_name", "family_name", "preferred_username", "first_name", "last_name", "id"],
  },
  conformIdTokenClaims: false,
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
  cookies: { keys: ["only for tests"] },
  features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: false } },
  ttl: { AuthorizationCode: 60, AccessToken: 600, Session: 600, Grant: 600, Interaction: 600, IdToken: 600 },
});

// A vendor with fields of its own says `id` and no `sub`.
provider.use(async (ctx, next) => {
  await next();
  if (ctx.oidc?.route === "userinfo" && ctx.body?.id) {
    const { sub, ...rest } = ctx.body;
    ctx.body = rest;
  }
});

provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
