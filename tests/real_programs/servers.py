"""Servers under load on the loopback interface."""

from program import Program

POSTGRES = "/usr/lib/postgresql/15/bin"
AS_NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"
PSQL = "psql -h 127.0.0.1 -p {port} -U prof postgres"

PROGRAMS = (
    # PostgreSQL refuses to run as root. Its children inherit the runtime by fork alone.
    Program("postgresql", f"{AS_NOBODY} {POSTGRES}/postgres -D data -p {{port}} -k /tmp -c fsync=off",
            setup=f"chown 65534 . && {AS_NOBODY} {POSTGRES}/initdb -D data -U prof -A trust -N >/dev/null",
            prepare="cp -a {input}/data data", needs=(f"{POSTGRES}/postgres", f"{POSTGRES}/pgbench", "psql"),
            clients=f"""until {POSTGRES}/pg_isready -q -h 127.0.0.1 -p {{port}}; do sleep 0.1; done
{POSTGRES}/pgbench -h 127.0.0.1 -p {{port}} -U prof -i -s 2 -q postgres 2>&1 | grep -c done
{POSTGRES}/pgbench -h 127.0.0.1 -p {{port}} -U prof -c 4 -j 2 -t 250 --random-seed=7 postgres 2>&1 |
  grep -E 'number of|transaction type'
{PSQL} -Atc 'select sum(abalance), count(*) from pgbench_accounts; select count(*) from pgbench_history'
{PSQL} -Atc 'select a.aid % 97, sum(b.abalance) from pgbench_accounts a join pgbench_accounts b
  on a.aid = b.aid + 1 group by 1 order by 1 limit 5' """,
            stop="SIGTERM", ignore=("data/*",), processes=8, trace=True),
    Program("redis", "redis-server --port {port} --save '' --appendonly no --dir .", needs=("redis-server",),
            clients="""redis-benchmark -p {port} -q -n 40000 -c 20 -t set,get,lpush,zadd | tr '\\r' '\\n' |
  grep -c 'requests per second'
redis-cli -p {port} eval 'local s = 0 for i = 1, 3000000 do s = s + i % 7 end return s' 0
redis-cli -p {port} llen mylist""", stop="redis-cli -p {port} shutdown nosave", threads=4),
    Program("memcached", "memcached -u nobody -l 127.0.0.1 -p {port} -U 0 -t 2", needs=("memcached",),
            clients="python3 {sources}/memcached_load.py {port}", stop="SIGTERM", threads=3),
    Program("nginx", "nginx -p . -e error.log -c nginx.conf", needs=("nginx", "ab"),
            setup="""head -c 20000 /dev/zero | tr '\\0' x > page.html
cat > nginx.conf <<END
daemon off; worker_processes 2; pid nginx.pid; error_log error.log; user root;
events { worker_connections 256; }
http { access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4;
  scgi_temp_path t5; gzip on; gzip_types *;
  server { listen 127.0.0.1:PORT; root {input}; } }
END""", prepare="sed s/PORT/{port}/ {input}/nginx.conf > nginx.conf",
            clients="""ab -q -n 8000 -c 16 -k http://127.0.0.1:{port}/page.html | grep -E '^(Complete|Failed|Non-2xx|Document L)'
ab -q -n 1500 -c 8 -H 'Accept-Encoding: gzip' http://127.0.0.1:{port}/page.html | grep -E '^(Complete|Failed)'""",
            stop="SIGQUIT", ignore=("error.log", "nginx.conf"), processes=3),
    Program("rsync daemon", "rsync --daemon --no-detach --port={port} --config={input}/rsyncd.conf", needs=("rsync",),
            setup="""mkdir tree && (cd tree && python3 {sources}/make_c.py 40 120)
printf '%s\\n' 'use chroot = no' 'uid = root' 'gid = root' '[tree]' 'path = {input}/tree' > rsyncd.conf""",
            clients="""rsync -rz rsync://127.0.0.1:{port}/tree/ copy/ && diff -r copy {input}/tree
echo changed >> copy/part0.c; rsync -rzc rsync://127.0.0.1:{port}/tree/ copy/; diff -r copy {input}/tree; ls copy""",
            stop="SIGTERM", processes=2, least_samples=5),
)
