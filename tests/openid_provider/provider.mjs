// A certified OpenID provider for the tests: node provider.mjs CONFIG
//
// CONFIG is a JSON file: {port, issuer, clients, accounts, keys, idTokenClaims}. It is read again for every
// account, so that tests change people by writing it. Its login page takes any password.
import { readFileSync } from "node:fs";
import { Provider } from "oidc-provider";

const file = process.argv[2];
const read = () => JSON.parse(readFileSync(file, "utf8"));
const { port, issuer, clients, keys, idTokenClaims } = read();

const provider = new Provider(issuer, {
  clients,
  jwks: { keys },
  claims: { openid: ["sub", "amr"], email: ["email", "email_verified"], profile: ["name", "groups"] },
  conformIdTokenClaims: !idTokenClaims,
  cookies: { keys: ["tests"] },
  features: { rpInitiatedLogout: { enabled: false } },
  ttl: { AccessToken: 600, AuthorizationCode: 60, IdToken: 600, Interaction: 600, Session: 600, Grant: 600 },
  findAccount: (_context, id) => {
    const claims = read().accounts[id];
    return claims && { accountId: id, claims: () => ({ sub: id, ...claims }) };
  },
});
provider.listen(port, "127.0.0.1", () => console.log("ready"));
