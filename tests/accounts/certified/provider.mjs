// oidc-provider, a certified OpenID Provider, with its own pages to log in, to agree and to log out: whoever is known logs in with any password.
// What it is told comes as JSON in its only argument; it prints its issuer once it listens.
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const { site, client, secret, method, people } = JSON.parse(process.argv[2]);
const server = createServer();
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, {
  clients: [{
    client_id: client,
    client_secret: secret,
    token_endpoint_auth_method: method,
    redirect_uris: [`${site}/login/provider/back/`],
    post_logout_redirect_uris: [`${site}/`],
  }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['preferred_username', 'groups'] },
  findAccount: (context, id) => people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id] }) },
  clientAuthMethods: [method],
  pkce: { required: () => true },
});
server.on('request', provider.callback());
console.log(issuer);
